import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { Gate } from '../support/gate.js';
import { describeWithKafka } from '../support/kafka.js';
import { Consumer } from './bus-harness.js';
import { KafkaHarness, type KafkaMember } from './kafka-harness.js';

const LONGER_THAN_A_SESSION_MS = 8_000;
const OUTAGE_MS = 20_000;
/** As much as it would take, were there no limit. */
const FETCHED_WITHIN_MS = 1_500;

const retry = { attempts: 2, firstPauseMs: 5, longestPauseMs: 20 };

describeWithKafka('a member of a group in Kafka', (kafka) => {
  /** A bus of the test's own: what one test puts in a topic is nothing to another. */
  async function onBus(body: (bus: KafkaHarness, join: Join) => Promise<void>): Promise<void> {
    const bus = await KafkaHarness.start(kafka().brokers);
    const members: KafkaMember[] = [];
    const join: Join = async (settings) => {
      const member = await bus.join({ retry, ...settings });
      members.push(member);
      return member;
    };
    try {
      await body(bus, join);
    } finally {
      await Promise.all(members.map((member) => member.stop()));
      await bus.stop();
    }
  }
  type Join = (settings: Parameters<KafkaHarness['join']>[0]) => Promise<KafkaMember>;

  test('puts a record that is no event aside once, as it was, and its partition moves on', () =>
    onBus(async (bus, join) => {
      const consumer = new Consumer(randomUUID());
      await join(consumer.settings);
      const poison = { key: 'k', value: '{"not":"an envelope"}', headers: { ce_id: 'x', mine: 'yes' } };
      for (let copies = 0; copies < 3; copies += 1) await bus.put(poison);
      const after = await Promise.all([bus.ask(), bus.ask(), bus.ask(), bus.ask()]);
      await eventually(() => after.every((event) => consumer.times(event) === 1));
      await eventually(() => bus.letters.length === 3);
      const [letter] = bus.letters;
      expect([String(letter?.key), String(letter?.value)]).toEqual([poison.key, poison.value]);
      const headers = Object.fromEntries(
        Object.entries(letter?.headers ?? {}).map(([name, value]) => [name, String(value)]),
      );
      expect(headers).toMatchObject({
        ...poison.headers,
        'settled-dlq-group': consumer.group,
        'settled-dlq-attempts': '1',
        'settled-dlq-topic': bus.topic,
        'settled-dlq-error': expect.stringContaining('header'),
      });
      expect(headers['settled-dlq-offset']).toMatch(/^\d+$/);
    }));

  test('that begins at the end hears of what comes after it was made, also of what came while it was away', () =>
    onBus(async (bus, join) => {
      const before = await bus.ask();
      const group = randomUUID();
      const first = new Consumer(group);
      const member = await join({ ...first.settings, from: 'end' });
      await eventually(() => bus.isBegun(group));
      await member.stop();
      const meanwhile = await bus.ask();
      const second = new Consumer(group);
      await join({ ...second.settings, from: 'end' });
      await eventually(() => second.times(meanwhile) === 1);
      expect([first, second].map((consumer) => consumer.times(before))).toEqual([0, 0]);
    }));

  test('keeps its place in the group while a handler is slow and another member joins', () =>
    onBus(async (bus, join) => {
      const gate = new Gate();
      const group = randomUUID();
      const slow = await bus.ask();
      const first = new Consumer(group, ({ event }) => (event.id === slow.id ? gate.pass() : undefined));
      const one = await join(first.settings);
      await gate.reached;
      const second = new Consumer(group);
      const two = await join(second.settings);
      // Who does not show signs of life meanwhile is thrown out.
      await eventually(() => one.joins > 1 && two.joins > 0);
      const joins = one.joins + two.joins;
      await pause(LONGER_THAN_A_SESSION_MS);
      expect(one.joins + two.joins).toBe(joins);
      const others = await Promise.all(Array.from({ length: 12 }, () => bus.ask()));
      await eventually(() => others.every((event) => first.times(event) + second.times(event) === 1));
      gate.open();
      await eventually(() => first.times(slow) === 1);
    }));

  test('that is cut off says so, and goes on without a loss when Kafka is back', () =>
    onBus(async (bus, join) => {
      const consumer = new Consumer(randomUUID());
      const member = await join(consumer.settings);
      const before = await bus.ask();
      await eventually(() => consumer.times(before) === 1);
      member.network.refuse();
      await eventually(() => !member.health().ok);
      const meanwhile = await bus.ask();
      member.network.restore();
      await eventually(() => consumer.times(meanwhile) === 1 && member.health().ok);
      await eventually(() => bus.isRecorded(consumer.group, meanwhile));
    }));

  test('waits out an outage of its handlers for long, skips nothing and repeats no effect', () =>
    onBus(async (bus, join) => {
      let away = true;
      const consumer = new Consumer(randomUUID(), () => {
        if (away) throw bus.outage();
      });
      const member = await join(consumer.settings);
      const events = await Promise.all(Array.from({ length: 20 }, () => bus.ask()));
      await eventually(() => !member.health().ok);
      await pause(OUTAGE_MS);
      expect(consumer.done).toEqual([]);
      away = false;
      await eventually(() => events.every((event) => consumer.times(event) === 1));
      await eventually(() => member.health().ok);
      expect(bus.letters).toEqual([]);
    }));

  test('takes no more into memory than it may hold, and goes on when there is room', () =>
    onBus(async (bus, join) => {
      const gate = new Gate();
      const consumer = new Consumer(randomUUID(), () => gate.pass());
      const records = await bus.askMany(6_000);
      await join(consumer.settings);
      await gate.reached;
      await pause(FETCHED_WITHIN_MS);
      gate.open();
      await eventually(() => consumer.done.length >= records);
      expect(new Set(consumer.done.map(({ event }) => event.id)).size).toBe(records);
      expect(consumer.done).toHaveLength(records);
    }));
});
