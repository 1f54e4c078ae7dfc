import { randomInt } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import type { Envelope } from '#contracts';
import { inLanes } from '../support/races/in-lanes.js';
import { direct, type Instances, startInstances } from '../support/races/instances.js';
import type { Participant } from '../support/races/participant.js';

const LONG = process.env.FAULTS === 'long';
const ROUNDS = LONG ? 300 : 60;
/** Each side of a race begins up to this much late, so that either may be first. */
const LATE_MAX_US = 4_000;

let settled: Instances;
beforeAll(async () => {
  settled = await startInstances();
});
afterEach(() => settled.assertOneStory());
afterAll(() => settled.stop());

/** What the calls of a conversation say, of all of them what there is. */
interface Said {
  readonly turn: string;
  readonly answers: readonly Envelope[];
  readonly settled: readonly string[];
  readonly cancelled: readonly string[];
  readonly dropped: number;
  readonly continuation: { readonly id: string; readonly answers: readonly Envelope[] } | null;
}

/** A conversation in which one question is open, asked by the turn that runs or, earlier, by none. */
interface Scene {
  readonly at: (agent: Participant) => Calls;
  readonly question: string;
}

type Calls = Readonly<Record<'start' | 'boundary' | 'finish' | 'stop' | 'wait', () => Promise<Said>>>;

interface Race {
  readonly turnRuns: boolean;
  readonly asksInTurn: boolean;
  readonly act: (calls: Calls) => Promise<Said>;
}

const races: Record<string, Race> = {
  'the end of the turn that asked': { turnRuns: true, asksInTurn: true, act: (calls) => calls.finish() },
  'the end of another turn': { turnRuns: true, asksInTurn: false, act: (calls) => calls.finish() },
  'a boundary': { turnRuns: true, asksInTurn: false, act: (calls) => calls.boundary() },
  'the start of a turn': { turnRuns: false, asksInTurn: false, act: (calls) => calls.start() },
  'a stop': { turnRuns: true, asksInTurn: false, act: (calls) => calls.stop() },
};

let made = 0;
async function prepare({ turnRuns, asksInTurn }: Race): Promise<Scene> {
  const { agent, ada } = settled;
  const conversation = `race-${++made}`;
  const path = `/v1/conversations/${conversation}`;
  const at = (who: Participant): Calls => {
    const call = async (method: string, end: string, body?: object) => {
      const response = await who.send(method, `${path}/${end}`, body === undefined ? {} : { body });
      if (!response.ok) throw new Error(`${end}: ${response.status} ${await response.text()}`);
      return (await response.json()) as Said;
    };
    return {
      start: () => call('POST', 'turns', { turn: 't' }),
      boundary: () => call('POST', 'turns/t/boundary'),
      finish: () => call('POST', 'turns/t/finish'),
      stop: () => call('POST', 'stop'),
      wait: () => call('GET', 'wait?timeout=0'),
    };
  };
  if (turnRuns) await at(agent).start();
  const turn = asksInTurn ? { turn: 't' } : {};
  const { id } = await agent.ask({ ...direct(ada), conversation, ...turn });
  return { at, question: id };
}

/** Resolves with every place in which the answer was found. */
async function run(race: Race, round: number): Promise<string[]> {
  const { first, second, agent, ada } = settled;
  const [here, there] = round % 2 === 0 ? [first, second] : [second, first];
  const { at, question } = await prepare(race);
  const [said, attempt] = await Promise.all([
    late().then(() => race.act(at(agent.at(here)))),
    late().then(() => ada.at(there).answer(question)),
  ]);
  const isIt = ({ id }: Envelope) => id === question;
  const places: string[] = [];
  const count = (place: string, found: boolean | undefined) => found && places.push(place);
  count('handed over at once', said.answers?.some(isIt));
  count('of the turn', said.settled?.includes(question));
  count('dropped', (said.dropped ?? 0) > 0);
  count('never given', said.cancelled?.includes(question));
  expect(attempt.applied).toBe(!places.includes('never given'));

  const calls = at(agent.at(there));
  const pending = (await calls.wait()).continuation;
  if (pending !== null) {
    expect(pending.answers.map(({ id }) => id)).toEqual([question]);
    count('continued', (await calls.start()).answers.some(isIt));
  } else if (said.turn === undefined && said.answers === undefined) {
    count('found by a later turn', (await calls.start()).answers.some(isIt));
  }
  count('handed over at a boundary', (await calls.boundary()).answers.some(isIt));
  const end = await calls.finish();
  expect([end.settled, end.continuation]).toEqual([[], null]);
  expect((await calls.wait()).continuation).toBeNull();
  return places;
}

async function late(): Promise<void> {
  const us = randomInt(LATE_MAX_US);
  if (us >= 1_000) await pause(us / 1_000);
}

/** The places in which either side of a race may leave the answer. */
const either: Readonly<Record<string, readonly [string, string]>> = {
  'the end of the turn that asked': ['of the turn', 'continued'],
  'the end of another turn': ['continued', 'continued'],
  'a boundary': ['handed over at once', 'handed over at a boundary'],
  'the start of a turn': ['handed over at once', 'handed over at a boundary'],
  'a stop': ['dropped', 'never given'],
};

test.each(Object.keys(races))(
  'an answer and %s at once, on two instances, leave the answer in exactly one place',
  async (name) => {
    const rounds = Array.from({ length: ROUNDS }, (_, round) => round);
    const places = await inLanes(rounds, (round) => run(races[name] as Race, round));
    expect(places.filter((found) => found.length !== 1)).toEqual([]);
    // Otherwise it was no race.
    expect(new Set(places.flat())).toEqual(new Set(either[name]));
  },
);
