import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { NameResolver } from './name-resolver.js';

const NO_SUCH_NAME = 3;

/** A name server that never answers for `slow…`, knows `fine…`, and nothing else. */
let server: Socket;
let asked: string[];
let resolver: NameResolver;
beforeEach(async () => {
  asked = [];
  server = createSocket('udp4');
  server.on('message', (query, { address, port }) => {
    const { name, type, end } = questionOf(query);
    asked.push(`${name} ${type}`);
    if (!name.startsWith('slow')) server.send(responseTo(query, { name, type, end }), port, address);
  });
  server.bind(0, '127.0.0.1');
  await once(server, 'listening');
  resolver = new NameResolver([`127.0.0.1:${server.address().port}`]);
});
afterEach(() => {
  server.close();
});

/** RFC 1035, section 4.1.2. */
function questionOf(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let offset = 12;
  for (let length = query[offset] ?? 0; length > 0; length = query[offset] ?? 0) {
    labels.push(query.toString('latin1', offset + 1, offset + 1 + length));
    offset += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(offset + 1), end: offset + 5 };
}

function responseTo(query: Buffer, { name, type, end }: ReturnType<typeof questionOf>): Buffer {
  const known = name.startsWith('fine');
  const isA = known && type === 1;
  const header = Buffer.from(query.subarray(0, 12));
  header.writeUInt16BE(0x8180 | (known ? 0 : NO_SUCH_NAME), 2);
  header.writeUInt16BE(isA ? 1 : 0, 6);
  header.writeUInt16BE(0, 8);
  header.writeUInt16BE(0, 10);
  // The name of the question again, A, IN, a minute, four bytes.
  const record = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 192, 0, 2, 7]);
  return Buffer.concat([header, query.subarray(12, end), isA ? record : Buffer.alloc(0)]);
}

test('a name whose servers are silent holds up no other', async () => {
  const slow = Array.from({ length: 30 }, (_, number) => resolver.resolve(`slow-${number}.example`));
  for (const one of slow) one.catch(() => {});
  const startedAt = performance.now();
  for (let number = 0; number < 5; number += 1) {
    expect(await resolver.resolve(`fine-${number}.example`)).toEqual([{ address: '192.0.2.7', family: 4 }]);
  }
  expect(performance.now() - startedAt).toBeLessThan(1_000);
});

test('what is asked for at the same time is asked once', async () => {
  const answers = await Promise.all(Array.from({ length: 10 }, () => resolver.resolve('fine.example')));
  expect(new Set(answers).size).toBe(1);
  expect(asked.toSorted()).toEqual(['fine.example 1', 'fine.example 28']);
});

test('what no server knows may stand in the hosts file', async () => {
  const addresses = await resolver.resolve('localhost');
  expect(addresses.map(({ address }) => address)).toContain('127.0.0.1');
  expect(asked).toContain('localhost 1');
});

test('what nobody knows is an error with a code', async () => {
  await expect(resolver.resolve('unknown.invalid')).rejects.toMatchObject({ code: expect.any(String) });
});
