import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { append } from '../support/log.js';
import { ask as bare } from '../support/log-entries.js';
import { Consumer } from './bus-harness.js';
import { LogHarness, type LogMember } from './log-harness.js';

const retry = { attempts: 2, firstPauseMs: 5, longestPauseMs: 20 };

let bus: LogHarness;
beforeAll(async () => {
  bus = await LogHarness.start();
});
afterAll(() => bus.stop());

async function running(
  member: Promise<LogMember>,
  body: (member: LogMember) => Promise<void>,
): Promise<void> {
  const started = await member;
  try {
    await body(started);
  } finally {
    await started.stop();
  }
}

describe('a group that begins at the end', () => {
  test('hears of what comes after it was made, also of what came while it was away', async () => {
    const group = randomUUID();
    const before = await bus.ask();
    const first = new Consumer(group);
    await running(bus.join({ group, controllers: [first.controller], from: 'end' }), async (member) => {
      await eventually(() => member.health().detail.startsWith('active'));
    });
    const meanwhile = await bus.ask();
    const second = new Consumer(group);
    await running(bus.join({ group, controllers: [second.controller], from: 'end' }), async () => {
      await eventually(() => second.times(meanwhile) === 1);
    });
    expect([first, second].map((consumer) => consumer.times(before))).toEqual([0, 0]);
  });

  test('is right on an empty log, too', async () => {
    const empty = await LogHarness.start();
    const group = randomUUID();
    const { controller } = new Consumer(group);
    await running(empty.join({ group, controllers: [controller], from: 'end' }), async (member) => {
      await eventually(() => member.health().detail.startsWith('active'));
    });
    const first = await empty.ask();
    const consumer = new Consumer(group);
    await running(empty.join({ group, controllers: [consumer.controller], from: 'end' }), async () => {
      await eventually(() => consumer.times(first) === 1);
    });
    await empty.stop();
  });
});

describe('a member', () => {
  test('takes its group again when the server ends the session that holds it', async () => {
    const group = randomUUID();
    const consumer = new Consumer(group);
    await running(bus.join({ group, controllers: [consumer.controller] }), async (member) => {
      const before = await bus.ask();
      await eventually(() => consumer.times(before) === 1);
      await bus.own.pool.query(`SELECT pg_terminate_backend(pid) FROM pg_locks l JOIN pg_database d ON d.oid = l.database
        WHERE locktype = 'advisory' AND objsubid = 1 AND datname = current_database()`);
      const after = await bus.ask();
      await eventually(() => consumer.times(after) >= 1);
      await eventually(() => member.health().ok);
    });
  });

  test('waits for a database that is away, says so, and goes on without a loss', async () => {
    const group = randomUUID();
    const consumer = new Consumer(group);
    await running(bus.join({ group, controllers: [consumer.controller], retry }), async (member) => {
      await eventually(() => member.health().detail.startsWith('active'));
      member.proxy.refuse();
      const meanwhile = await bus.ask();
      await eventually(() => !member.health().ok);
      member.proxy.restore();
      await eventually(() => consumer.times(meanwhile) >= 1 && member.health().ok);
      await eventually(() => bus.isRecorded(group, meanwhile));
    });
    expect(await bus.deadLetters(group)).toEqual([]);
  });

  test('catches up from the log with what is no longer in memory', async () => {
    const group = randomUUID();
    const many = await Promise.all(Array.from({ length: 1_700 }, () => append(bus.own.log, bare())));
    const consumer = new Consumer(group);
    await running(bus.join({ group, controllers: [consumer.controller] }), async () => {
      await eventually(() => consumer.done.length >= many.length);
    });
    const positions = consumer.done.map(({ event }) => event.position);
    expect(positions).toEqual(positions.toSorted((a, b) => a - b));
    expect(new Set(positions).size).toBe(positions.length);
  });

  test('puts an event aside whose envelope cannot be made', async () => {
    const group = randomUUID();
    const project = () => '{';
    const { controller } = new Consumer(group);
    const asked = await bus.ask();
    await running(bus.join({ group, controllers: [controller], retry, from: 'start', project }), async () => {
      await eventually(() => bus.isRecorded(group, asked));
    });
    const letters = await bus.deadLetters(group);
    expect(letters.at(-1)).toMatchObject({
      position: asked.position,
      error: expect.stringContaining('SyntaxError'),
    });
  });
});
