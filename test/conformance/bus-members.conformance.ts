import { describe, expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { Gate } from '../support/gate.js';
import type { InGroup } from './bus-group.js';

export function describeMembers(inGroup: InGroup): void {
  describe('progress', () => {
    test(
      'is recorded only after the effect of everything up to it',
      inGroup(async (group) => {
        const gate = new Gate();
        const slow = await group.bus.ask();
        const consumer = group.consumer(({ event }) => (event.id === slow.id ? gate.pass() : undefined));
        await group.join([consumer]);
        await gate.reached;
        // Each of these would have been recorded in its turn, were it not for the first.
        for (let round = 0; round < 3; round += 1) {
          const other = await group.bus.ask();
          await eventually(() => consumer.times(other) === 1);
          expect(await group.bus.isRecorded(group.name, slow)).toBe(false);
        }
        gate.open();
        await eventually(() => group.bus.isRecorded(group.name, slow));
      }),
    );

    test(
      'of a member that crashed is what it had recorded: the rest is delivered again, and nothing is skipped',
      inGroup(async (group) => {
        const gate = new Gate();
        const before = await group.bus.ask();
        const first = group.consumer(({ event }) => (event.id === held.id ? gate.pass() : undefined));
        const member = await group.join([first]);
        await eventually(() => group.bus.isRecorded(group.name, before));
        const held = await group.bus.ask();
        await gate.reached;
        const after = await Promise.all([1, 2, 3].map(() => group.bus.ask()));
        await eventually(() => after.every((event) => first.times(event) === 1));
        await member.crash();

        const second = group.consumer();
        await group.join([second]);
        await eventually(() => [held, ...after].every((event) => second.times(event) === 1));
        expect(second.times(before)).toBe(0);
        gate.open();
      }),
    );
  });

  describe('the members of a group', () => {
    test(
      'share its events: each is handled by one of them',
      inGroup(async (group) => {
        const consumers = [group.consumer(), group.consumer(), group.consumer()];
        for (const consumer of consumers) await group.join([consumer]);
        const events = await Promise.all(Array.from({ length: 30 }, () => group.bus.ask()));
        const times = (event: (typeof events)[number]) =>
          consumers.reduce((sum, consumer) => sum + consumer.times(event), 0);
        await eventually(() => events.every((event) => times(event) >= 1));
        expect(events.map(times)).toEqual(events.map(() => 1));
      }),
    );

    test.each(['stop', 'crash'] as const)('take over from one that goes (%s)', (how) =>
      inGroup(async (group) => {
        const consumers = [group.consumer(), group.consumer()];
        const members = [];
        for (const consumer of consumers) members.push(await group.join([consumer]));
        const before = await group.bus.ask();
        await eventually(() => consumers.some((consumer) => consumer.times(before) === 1));
        await members[0]?.[how]();
        const after = await group.bus.ask();
        await eventually(() => (consumers[1]?.times(after) ?? 0) >= 1);
      })(),
    );
  });

  describe('a member that stops', () => {
    test(
      'lets the handlers that run finish, records them, and begins nothing new',
      inGroup(async (group) => {
        const gate = new Gate();
        const before = await group.bus.ask();
        const consumer = group.consumer(({ event }) => (event.id === running.id ? gate.pass() : undefined));
        const member = await group.join([consumer]);
        await eventually(() => group.bus.isRecorded(group.name, before));
        const running = await group.bus.ask();
        const next = await group.bus.answer(running.question);
        await gate.reached;
        let stopped = false;
        const stopping = member.stop().then(() => {
          stopped = true;
        });
        await eventually(() => !member.health().ok);
        const late = await group.bus.ask();
        expect(stopped).toBe(false);
        gate.open();
        await stopping;
        expect(consumer.times(running)).toBe(1);
        expect(await group.bus.isRecorded(group.name, running)).toBe(true);

        const successor = group.consumer();
        await group.join([successor]);
        await eventually(() => successor.times(next) === 1 && successor.times(late) === 1);
        expect(successor.times(running)).toBe(0);
        expect([next, late].map((event) => consumer.times(event))).toEqual([0, 0]);
      }),
    );

    test(
      'does not wait for the pause before a retry',
      inGroup(async (group) => {
        await group.bus.ask();
        const consumer = group.consumer(() => {
          throw new Error('not now');
        });
        const hour = 3_600_000;
        const member = await group.join([consumer], { firstPauseMs: hour, longestPauseMs: hour });
        await eventually(() => consumer.begun.length > 0);
        const began = performance.now();
        await member.stop();
        expect(performance.now() - began).toBeLessThan(5_000);
        expect(await group.bus.deadLetters(group.name)).toEqual([]);
      }),
    );

    test(
      'is healthy while it works, and not afterwards',
      inGroup(async (group) => {
        const member = await group.join([group.consumer()]);
        await eventually(() => member.health().ok);
        await member.stop();
        expect(member.health().ok).toBe(false);
      }),
    );
  });
}
