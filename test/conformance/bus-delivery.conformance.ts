import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { Controller } from '@nestjs/common';
import { concat, EMPTY, from, type Observable, of } from 'rxjs';
import { Subscribe } from '#bus';
import { type Envelope, EnvelopeSchema } from '#contracts';
import { eventually } from '../support/eventually.js';
import { Gate } from '../support/gate.js';
import type { InGroup } from './bus-group.js';

export function describeDelivery(inGroup: InGroup): void {
  describe('delivery', () => {
    test(
      'hands the envelope at the event, with the event, to the handler of its type',
      inGroup(async (group) => {
        const asked = await group.bus.ask();
        const answered = await group.bus.answer(asked.question);
        const consumer = group.consumer();
        await group.join([consumer]);
        await eventually(() => consumer.times(answered) === 1);
        const calls = consumer.done.filter(({ envelope }) => envelope.id === asked.question);
        expect(calls.map(({ envelope }) => [envelope.version, envelope.state])).toEqual([
          [1, 'pending'],
          [2, 'answered'],
        ]);
        for (const { envelope, event } of calls) {
          EnvelopeSchema.parse(envelope);
          const { position, id } = envelope.version === 1 ? asked : answered;
          const stream = `question:${asked.question}`;
          expect(event).toMatchObject({
            position,
            id,
            stream,
            tenant: envelope.tenant,
            version: envelope.version,
          });
          expect(event.type).toBe(envelope.version === 1 ? 'question.asked' : 'question.answered');
          expect(event.at).toBe(envelope.outcome?.at ?? envelope.askedAt);
        }
      }),
    );

    test(
      'keeps the order of each question, one event at a time, while it mixes those of many',
      inGroup(async (group) => {
        const running = new Set<string>();
        let most = 0;
        const consumer = group.consumer(async ({ envelope: { id, version } }) => {
          expect(running).not.toContain(id);
          running.add(id);
          most = Math.max(most, running.size);
          for (let turn = 0; turn < 5 / version; turn += 1) await nextTurn();
          running.delete(id);
        });
        await group.join([consumer]);
        const asked = await Promise.all(Array.from({ length: 40 }, () => group.bus.ask()));
        const answered = await Promise.all(asked.map(({ question }) => group.bus.answer(question)));
        await eventually(() => answered.every((event) => consumer.times(event) === 1));
        for (const { question } of asked) {
          const calls = consumer.done.filter(({ envelope }) => envelope.id === question);
          expect(calls.map(({ envelope }) => envelope.version)).toEqual([1, 2]);
        }
        expect(most).toBeGreaterThan(1);
      }),
    );

    test(
      'of one question waits for a slow handler, that of others does not',
      inGroup(async (group) => {
        const gate = new Gate();
        const slow = await group.bus.ask();
        const consumer = group.consumer(({ event }) => (event.id === slow.id ? gate.pass() : undefined));
        await group.join([consumer]);
        await gate.reached;
        const next = await group.bus.answer(slow.question);
        const other = await group.bus.ask();
        const last = await group.bus.answer(other.question);
        await eventually(() => consumer.times(other) === 1 && consumer.times(last) === 1);
        expect(consumer.begun.map(({ event }) => event.id)).not.toContain(next.id);
        gate.open();
        await eventually(() => consumer.times(slow) === 1 && consumer.times(next) === 1);
      }),
    );

    test(
      'reaches every group, and every handler of a type',
      inGroup(async (group) => {
        await inGroup(async (second) => {
          const consumers = [group.consumer(), group.consumer(), second.consumer()];
          await group.join(consumers.slice(0, 2));
          await second.join(consumers.slice(2));
          const asked = await group.bus.ask();
          await eventually(() => consumers.every((consumer) => consumer.times(asked) === 1));
        })();
      }),
    );

    test(
      'waits for the end of a stream that a handler returns, empty or not',
      inGroup(async (group) => {
        const gate = new Gate();
        const empty = await group.bus.ask();
        const long = await group.bus.ask();
        @Controller()
        class Streaming {
          @Subscribe(group.name, 'question.asked')
          asked({ id }: Envelope): Observable<unknown> {
            return id === long.question ? concat(of(1), from(gate.pass())) : EMPTY;
          }
        }
        await group.join([{ controller: Streaming }]);
        await eventually(() => group.bus.isRecorded(group.name, empty));
        expect(await group.bus.isRecorded(group.name, long)).toBe(false);
        gate.open();
        await eventually(() => group.bus.isRecorded(group.name, long));
        expect(await group.bus.deadLetters(group.name)).toEqual([]);
      }),
    );

    test(
      'skips the events that nobody handles',
      inGroup(async (group) => {
        @Controller()
        class Nothing {}
        const asked = await group.bus.ask();
        await group.join([{ controller: Nothing }]);
        await eventually(() => group.bus.isRecorded(group.name, asked));
      }),
    );
  });
}
