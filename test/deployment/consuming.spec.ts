import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import ts from 'typescript';
import type { Envelope } from '#contracts';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { describeWithKafka, type OwnBroker, ownBroker } from '../support/kafka.js';
import { type Cast, cast, direct } from '../support/races/instances.js';
import { SettledProcess } from '../support/settled-process.js';
import { pathOf, textOf } from './compose.js';

const STARTED_WITHIN_MS = 30_000;
const HAS_KCAT = spawnSync('kcat', ['-V']).status === 0;
/** In CI it has to be there. */
const withKcat = HAS_KCAT || process.env.CI !== undefined ? test : test.skip;

function codeOf(language: string): readonly string[] {
  const blocks = textOf('docs/consuming.md').matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, 'gms'));
  return [...blocks].map(([, code]) => code as string);
}

const [consumer = ''] = codeOf('ts');
const [outcomes = '', events = ''] = codeOf('sh');

describe('the consumer in TypeScript', () => {
  test('is sound to the compiler', () => {
    const file = pathOf('docs/consumer.ts');
    const options: ts.CompilerOptions = {
      strict: true,
      noEmit: true,
      skipLibCheck: true,
      module: ts.ModuleKind.NodeNext,
      target: ts.ScriptTarget.ES2022,
      types: ['node'],
    };
    const host = ts.createCompilerHost(options);
    const { readFile, fileExists } = host;
    host.readFile = (name) => (name === file ? consumer : readFile(name));
    host.fileExists = (name) => name === file || fileExists(name);
    const findings = ts.getPreEmitDiagnostics(ts.createProgram([file], options, host));
    expect(findings.map(({ messageText }) => messageText)).toEqual([]);
  });
});

describeWithKafka('the page on consuming', () => {
  let broker: OwnBroker;
  let database: TestDatabase;
  let settled: SettledProcess;
  let people: Cast;
  let answered: Envelope;
  const folder = mkdtempSync(pathOf('node_modules/.consuming-'));
  const children: ChildProcess[] = [];
  beforeAll(async () => {
    [broker, database] = await Promise.all([ownBroker(), createTestDatabase()]);
    settled = await SettledProcess.start({
      DATABASE_URL: database.url,
      KAFKA_BROKERS: broker.brokers.join(),
    });
    people = await cast(settled);
    answered = await answer();
    await eventually(async () => (await settled.call('GET', '/readyz')).status === 200, STARTED_WITHIN_MS);
  });
  afterAll(async () => {
    for (const child of children) child.kill('SIGKILL');
    rmSync(folder, { recursive: true });
    await settled?.stop();
    await broker?.stop();
    await database?.drop();
  });

  async function answer(): Promise<Envelope> {
    const { id } = await people.agent.ask(direct(people.ada));
    return (await people.ada.answer(id)).question;
  }

  function run(command: string, ...parts: string[]): ChildProcess & { readonly printed: string } {
    const env = { ...process.env, KAFKA_BROKERS: broker.brokers.join() };
    const child = spawn(command, parts, { env, stdio: ['ignore', 'pipe', 'inherit'] });
    children.push(child);
    let printed = '';
    child.stdout.setEncoding('utf8').on('data', (some: string) => {
      printed += some;
    });
    return Object.defineProperty(child, 'printed', { get: () => printed }) as never;
  }

  const here = (command: string) => command.replace('localhost:9092', broker.brokers.join());

  test('has a consumer in TypeScript that prints each outcome as it comes', async () => {
    const file = join(folder, 'consumer.mjs');
    const compilerOptions = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 };
    writeFileSync(file, ts.transpileModule(consumer, { compilerOptions }).outputText);
    const running = run(process.execPath, file);
    const line = ({ id }: Envelope) => `${id} answered: user:ada answered: Yes`;
    await eventually(() => running.printed.includes(answered.id), STARTED_WITHIN_MS);
    const next = await answer();
    await eventually(() => running.printed.includes(next.id));
    expect(running.printed).toBe(`${line(answered)}\n${line(next)}\n`);
    running.kill('SIGTERM');
    await once(running, 'exit');
  });

  withKcat('has a command that prints every outcome so far', async () => {
    const { stdout } = spawn('sh', ['-c', here(outcomes)], { stdio: ['ignore', 'pipe', 'inherit'] });
    const lines = (await text(stdout)).trimEnd().split('\n');
    const found = lines.map((line) => [line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' ') + 1)]);
    const outcome = new Map(found as [string, string][]).get(answered.id);
    expect(JSON.parse(outcome ?? 'null')).toEqual(answered);
  });

  withKcat('has a command that prints events with their types as they come', async () => {
    const running = run('sh', '-c', `exec ${here(events)}`);
    const ids: string[] = [];
    await eventually(async () => {
      ids.push((await answer()).id);
      return ids.some((id) => running.printed.includes(`${id} ce_specversion=1.0,ce_id=`));
    }, STARTED_WITHIN_MS);
    expect(running.printed).toMatch(/ce_type=question\.(asked|answered)/);
  });
});
