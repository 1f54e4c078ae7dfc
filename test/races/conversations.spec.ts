import { randomInt } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import type { Envelope } from '#contracts';
import { inLanes } from '../support/races/in-lanes.js';
import { direct, type Instances, startInstances } from '../support/races/instances.js';
import type { Participant } from '../support/races/participant.js';

const LONG = process.env.FAULTS === 'long';
const ROUNDS = LONG ? 300 : 60;
/** Each side of a race begins less than this late, so that either may be first. */
const LATE_MAX_MS = 4;

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

type Command = 'start' | 'boundary' | 'finish' | 'stop';
type Calls = Readonly<Record<Command | 'wait', () => Promise<Said>>>;

interface Race {
  readonly turnRuns: boolean;
  readonly asksInTurn: boolean;
  readonly act: Command;
  /** Where the answer is left, by whoever is first. */
  readonly places: readonly string[];
}

const races: Readonly<Record<string, Race>> = {
  'the end of the turn that asked': {
    turnRuns: true,
    asksInTurn: true,
    act: 'finish',
    places: ['of the turn', 'continued'],
  },
  'the end of another turn': { turnRuns: true, asksInTurn: false, act: 'finish', places: ['continued'] },
  'a boundary': {
    turnRuns: true,
    asksInTurn: false,
    act: 'boundary',
    places: ['handed over at once', 'handed over at a boundary'],
  },
  'the start of a turn': {
    turnRuns: false,
    asksInTurn: false,
    act: 'start',
    places: ['handed over at once', 'handed over at a boundary'],
  },
  'a stop': { turnRuns: true, asksInTurn: false, act: 'stop', places: ['dropped', 'never given'] },
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
    late().then(() => at(agent.at(here))[race.act]()),
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
  await pause(randomInt(LATE_MAX_MS));
}

test.each(Object.entries(races))(
  'an answer and %s at once, on two instances, leave the answer in exactly one place',
  async (_, race) => {
    const rounds = Array.from({ length: ROUNDS }, (_, round) => round);
    const places = await inLanes(rounds, (round) => run(race, round));
    expect(places.filter((found) => found.length !== 1)).toEqual([]);
    // Otherwise it was no race.
    expect(new Set(places.flat())).toEqual(new Set(race.places));
  },
);
