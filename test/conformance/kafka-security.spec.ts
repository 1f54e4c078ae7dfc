import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { pino } from 'pino';
import { KAFKA_SETTINGS, type KafkaConfig } from '#bus';
import { ensureTopics, kafkaClient } from '#kafka';
import { readSettings } from '#platform';
import { type Broker, startKafka } from '../../tools/kafka/broker.mjs';
import { describeWithKafka } from '../support/kafka.js';

const USERNAME = 'settled';
const PASSWORD = 'a secret of several words';
const MECHANISMS = ['plain', 'scram-sha-256', 'scram-sha-512'];
const LOGIN = 'org.apache.kafka.common.security';

describeWithKafka('a Kafka that asks for TLS and a login', () => {
  const folder = mkdtempSync(join(tmpdir(), 'settled-tls-'));
  const authority = join(folder, 'authority.pem');
  let broker: Broker;
  let address: string;
  beforeAll(async () => {
    const key = makeCertificate(authority);
    const port = await freePort();
    address = `localhost:${port}`;
    broker = await startKafka({
      settings: (usual) => secured(usual, port, { certificate: readFileSync(authority, 'utf8'), key }),
      scram: ['SCRAM-SHA-256', 'SCRAM-SHA-512'].map(
        (mechanism) => `${mechanism}=[name=${USERNAME},password=${PASSWORD}]`,
      ),
    });
  });
  afterAll(async () => {
    await broker?.stop();
    rmSync(folder, { recursive: true });
  });

  /** The same as a process would do with these settings at its start. */
  async function begin(change: Readonly<Record<string, string | undefined>>): Promise<void> {
    const config = readSettings(KAFKA_SETTINGS, {
      KAFKA_BROKERS: address,
      KAFKA_TLS: 'true',
      KAFKA_TLS_CA_FILE: authority,
      KAFKA_SASL_MECHANISM: 'plain',
      KAFKA_SASL_USERNAME: USERNAME,
      KAFKA_SASL_PASSWORD: PASSWORD,
      ...change,
    }) as KafkaConfig;
    await ensureTopics(kafkaClient(config, pino({ level: 'silent' })), config);
  }

  test.each(MECHANISMS)('lets in who logs in by %s', async (mechanism) => {
    await begin({ KAFKA_SASL_MECHANISM: mechanism });
  });

  test.each(MECHANISMS)('keeps out who has another password, by %s', async (mechanism) => {
    await expect(begin({ KAFKA_SASL_MECHANISM: mechanism, KAFKA_SASL_PASSWORD: 'guessed' })).rejects.toThrow(
      /authentication failed/i,
    );
  });

  test('is not trusted when another authority vouches for it', async () => {
    await expect(begin({ KAFKA_TLS_CA_FILE: undefined })).rejects.toThrow(/self.signed certificate/i);
  });
});

/** Returns the private key. */
function makeCertificate(file: string): string {
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost', '-days', '2'];
  const made = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', '-', '-out', file, ...subject];
  return execFileSync('openssl', made, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
}

type Properties = Readonly<Record<string, string>>;

/** One more listener, for clients that come with TLS and log in. */
function secured(usual: Properties, port: number, tls: { certificate: string; key: string }): Properties {
  const more = (name: string, text: string) => ({ [name]: `${usual[name]},${text}` });
  const inOneLine = (text: string) => text.trim().replaceAll('\n', '\\n');
  const own = 'listener.name.secured';
  const scram = `${LOGIN}.scram.ScramLoginModule required;`;
  return {
    ...more('listeners', `SECURED://127.0.0.1:${port}`),
    ...more('advertised.listeners', `SECURED://localhost:${port}`),
    ...more('listener.security.protocol.map', 'SECURED:SASL_SSL'),
    [`${own}.sasl.enabled.mechanisms`]: 'PLAIN,SCRAM-SHA-256,SCRAM-SHA-512',
    [`${own}.plain.sasl.jaas.config`]: `${LOGIN}.plain.PlainLoginModule required user_${USERNAME}="${PASSWORD}";`,
    [`${own}.scram-sha-256.sasl.jaas.config`]: scram,
    [`${own}.scram-sha-512.sasl.jaas.config`]: scram,
    [`${own}.ssl.keystore.type`]: 'PEM',
    [`${own}.ssl.keystore.certificate.chain`]: inOneLine(tls.certificate),
    [`${own}.ssl.keystore.key`]: inOneLine(tls.key),
  };
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}
