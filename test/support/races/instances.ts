import { createTestDatabase, type TestDatabase } from '../database.js';
import { SettledProcess } from '../settled-process.js';
import { assertOneStory } from './one-story.js';
import { Participant } from './participant.js';

export interface Instances {
  readonly database: TestDatabase;
  readonly first: SettledProcess;
  readonly second: SettledProcess;
  readonly admin: Participant;
  /** `agent:deployer`, who asks, at the first instance. */
  readonly agent: Participant;
  /** `user:ada`, who answers, at the first instance. */
  readonly ada: Participant;
  assertOneStory(): Promise<void>;
  stop(): Promise<void>;
}

/** Two processes of Settled on one database of their own, with somebody who asks and somebody who answers. */
export async function startInstances(environment: Record<string, string> = {}): Promise<Instances> {
  const database = await createTestDatabase();
  const first = await SettledProcess.start({ DATABASE_URL: database.url, ...environment });
  const second = await SettledProcess.start({ DATABASE_URL: database.url, ...environment }, first.adminKey);
  return {
    database,
    first,
    second,
    ...(await cast(first)),
    assertOneStory: () => assertOneStory(database.connection),
    stop: async () => {
      await Promise.all([first.stop(), second.stop()]);
      await database.drop();
    },
  };
}

export interface Cast {
  readonly admin: Participant;
  readonly agent: Participant;
  readonly ada: Participant;
}

/** Who takes part, with keys that were made at this instance. */
export async function cast(instance: SettledProcess): Promise<Cast> {
  const admin = new Participant(instance.url, { subject: 'admin', key: instance.adminKey });
  return {
    admin,
    agent: await admin.newcomer('agent:deployer', ['ask']),
    ada: await admin.newcomer('user:ada', ['answer']),
  };
}

/** The scope of a direct question to somebody. */
export function direct({ subject }: Participant): { scope: { kind: 'direct'; user: string } } {
  return { scope: { kind: 'direct', user: subject } };
}

/** Makes a room with members, one newcomer each. */
export async function roomOf(admin: Participant, room: string, size: number): Promise<Participant[]> {
  await admin.send('PUT', `/v1/rooms/${room}`);
  const names = Array.from({ length: size }, (_, index) => `user:${room}-${index}`);
  return await Promise.all(
    names.map(async (name) => {
      await admin.send('PUT', `/v1/rooms/${room}/members/${name}`);
      return await admin.newcomer(name, ['answer']);
    }),
  );
}
