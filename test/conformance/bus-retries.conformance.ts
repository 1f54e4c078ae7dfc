import { describe, expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import type { Group, InGroup } from './bus-group.js';
import type { Call, Published } from './bus-harness.js';

const MANY = 40;

/** Fails the first calls for one event. */
function failing(event: Published, times: number, error: () => unknown) {
  let failures = 0;
  return ({ event: { id } }: Call) => {
    if (id !== event.id || failures === times) return;
    failures += 1;
    throw error();
  };
}

async function lettersFor(group: Group, { position }: Published) {
  return (await group.bus.deadLetters(group.name)).filter((letter) => letter.position === position);
}

export function describeRetries(inGroup: InGroup): void {
  describe('a handler that throws', () => {
    test(
      'is called again until it does not, before its question goes on',
      inGroup(async (group) => {
        const asked = await group.bus.ask();
        const answered = await group.bus.answer(asked.question);
        const consumer = group.consumer(failing(asked, 3, () => new TypeError('not yet')));
        await group.join([consumer]);
        await eventually(() => consumer.times(answered) === 1);
        const calls = consumer.begun.filter(({ envelope }) => envelope.id === asked.question);
        expect(calls.map(({ event }) => event.version)).toEqual([1, 1, 1, 1, 2]);
        expect(await lettersFor(group, asked)).toEqual([]);
      }),
    );

    test(
      'every time leaves one dead letter after a bounded number of calls, and its question goes on',
      inGroup(async (group) => {
        const asked = await group.bus.ask();
        const answered = await group.bus.answer(asked.question);
        const poison = failing(asked, Number.POSITIVE_INFINITY, () => new RangeError('never \0 works'));
        const consumer = group.consumer(poison);
        const member = await group.join([consumer], { attempts: 3 });
        await eventually(() => consumer.times(answered) === 1);
        await eventually(() => group.bus.isRecorded(group.name, answered));
        expect(consumer.begun.filter(({ event }) => event.id === asked.id)).toHaveLength(3);
        const letter = { position: asked.position, attempts: 3, error: expect.stringContaining('never') };
        expect(await lettersFor(group, asked)).toEqual([expect.objectContaining(letter)]);
        expect(member.health().ok).toBe(true);

        await member.stop();
        const again = group.consumer(poison);
        await group.join([again], { attempts: 3 });
        const later = await group.bus.ask();
        await eventually(() => again.times(later) === 1);
        expect(again.begun.map(({ event }) => event.id)).not.toContain(asked.id);
        expect(await lettersFor(group, asked)).toHaveLength(1);
      }),
    );

    test.each([
      ['a text', 'out of order'],
      ['nothing', undefined],
      ['an object', { status: 'error', message: 'of its own' }],
    ])('%s is retried and put aside like one that throws an error', (_what, thrown) =>
      inGroup(async (group) => {
        const asked = await group.bus.ask();
        const consumer = group.consumer(failing(asked, Number.POSITIVE_INFINITY, () => thrown));
        await group.join([consumer], { attempts: 2 });
        await eventually(async () => (await lettersFor(group, asked)).length === 1);
        expect(consumer.begun.filter(({ event }) => event.id === asked.id)).toHaveLength(2);
      })(),
    );

    test(
      'does not hold up other questions while it waits to be called again, however many there are',
      inGroup(async (group) => {
        const bad = await Promise.all(Array.from({ length: MANY * 5 }, () => group.bus.ask()));
        const ids = new Set(bad.map(({ id }) => id));
        const consumer = group.consumer(({ event }) => {
          if (ids.has(event.id)) throw new Error('not now');
        });
        const hour = 3_600_000;
        await group.join([consumer], { firstPauseMs: hour, longestPauseMs: hour });
        const good = await Promise.all(Array.from({ length: MANY }, () => group.bus.ask()));
        await eventually(() => good.every((event) => consumer.times(event) === 1));
      }),
    );

    test(
      'is the only one that is called again, of several of one event',
      inGroup(async (group) => {
        const asked = await group.bus.ask();
        const well = group.consumer();
        const badly = group.consumer(failing(asked, 2, () => new Error('not yet')));
        await group.join([well, badly]);
        await eventually(() => badly.times(asked) === 1);
        await eventually(() => group.bus.isRecorded(group.name, asked));
        expect(well.times(asked)).toBe(1);
        expect(badly.begun.filter(({ event }) => event.id === asked.id)).toHaveLength(3);
      }),
    );
  });

  describe('an outage of infrastructure', () => {
    test(
      'is waited out, however long, and costs no event',
      inGroup(async (group) => {
        const asked = await group.bus.ask();
        let away = true;
        const consumer = group.consumer(({ event }) => {
          if (event.id === asked.id && away) throw group.bus.outage();
        });
        const member = await group.join([consumer], { attempts: 2 });
        await eventually(() => consumer.begun.filter(({ event }) => event.id === asked.id).length > 10);
        await eventually(() => !member.health().ok);
        expect(await group.bus.isRecorded(group.name, asked)).toBe(false);
        away = false;
        await eventually(() => consumer.times(asked) === 1);
        await eventually(() => member.health().ok);
        expect(await lettersFor(group, asked)).toEqual([]);
      }),
    );
  });
}
