import { expect } from '@jest/globals';
import type pg from 'pg';
import { logViolations, millisecondsOf, streamsOf } from './log-violations.js';
import { questionViolations } from './question-violations.js';
import { readStoredLog, type StoredEvent, type StoredLog, type StoredResult } from './stored-log.js';

const QUESTION = 'question:';

/**
 * Reads a whole log and fails unless it tells one story: positions and versions without gaps, time that never runs
 * backwards, an unbroken hash chain, at most one end of each question, on the right side of its deadline; and unless
 * the views, the list of what is open, and what was remembered of requests are exactly what the history comes to.
 */
export async function assertOneStory(connection: pg.ClientConfig): Promise<void> {
  expect(storyViolations(await readStoredLog(connection))).toEqual([]);
}

function storyViolations(log: StoredLog): string[] {
  const byVersion = new Map(log.events.map((event) => [`${event.stream}@${event.version}`, event]));
  return [
    ...logViolations(log.events),
    ...questionsOf(log).flatMap(questionViolations),
    ...strayViews(log),
    ...log.results.flatMap((result) => resultViolations(result, byVersion)),
  ];
}

function questionsOf({ events, views, open }: StoredLog) {
  const viewOf = new Map(views.map((view) => [nameOf(view), view]));
  const openOf = new Map(open.map((one) => [nameOf(one), one]));
  const questions = streamsOf(events).filter(([first]) => first?.stream.startsWith(QUESTION));
  return questions.map((history) => {
    const [first] = history as [StoredEvent, ...StoredEvent[]];
    const name = nameOf({ tenant: first.tenant, id: first.stream.slice(QUESTION.length) });
    return { history, view: viewOf.get(name), open: openOf.get(name) };
  });
}

function strayViews({ events, views, open }: StoredLog): string[] {
  const known = new Set(events.map(({ tenant, stream }) => `${tenant}/${stream}`));
  return [...views, ...open]
    .filter(({ tenant, id }) => !known.has(`${tenant}/${QUESTION}${id}`))
    .map(({ id }) => `question ${id} has a view and no history`);
}

/** What an idempotency key remembers is in the log, and was committed with it where the request made the change. */
function resultViolations({ result, at }: StoredResult, events: ReadonlyMap<string, StoredEvent>): string[] {
  // What other requests leave behind, such as those for keys, has no version.
  if (!result.includes('"version"')) return [];
  const { id, version, applied } = JSON.parse(result) as { id: string; version: number; applied: boolean };
  const event = events.get(`${QUESTION}${id}@${version}`);
  if (event === undefined) return [`a request remembers question ${id} at ${version}, which is not there`];
  if (!applied || millisecondsOf(event.at) === millisecondsOf(at)) return [];
  return [`a request of ${at} remembers that it made question ${id} at ${version}, which is of ${event.at}`];
}

function nameOf({ tenant, id }: { tenant: string; id: string }): string {
  return `${tenant}/${id}`;
}
