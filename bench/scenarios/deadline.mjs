import { setTimeout as sleep } from 'node:timers/promises';
import {
  DEADLINE_ESTIMATE_FACTOR,
  DEADLINE_LEAD_MS,
  DEADLINE_MARGIN_MS,
  DEADLINE_OBSERVED_MS,
  DEADLINE_PAGE,
  DEADLINE_QUESTIONS,
  DEADLINE_TRIAL,
  DEADLINE_WAITS,
  MAIN_CONCURRENCY,
  WARM_UP_CYCLES,
} from '../limits.mjs';
import { forEach } from '../load/closed-loop.mjs';
import { runCycle } from '../load/cycle.mjs';
import { cutConnection, parkWaits } from '../load/parked-waits.mjs';
import { withUsers } from '../load/users.mjs';
import { percentile } from '../measure/statistics.mjs';
import { handWritten } from '../targets/hand-written.mjs';
import { settled } from '../targets/settled.mjs';
import { withTargets } from '../targets/started.mjs';

/** Twenty thousand questions that end in the same instant, with waits on some of them. */
export async function deadline({ progress }) {
  const results = [];
  const missing = [];
  for (const target of [settled, handWritten]) {
    await withTargets([target], async ([started], unavailable) => {
      missing.push(...unavailable);
      if (started) results.push({ target: target.name, ...(await measure(started, progress)) });
    });
  }
  return { missing, results };
}

function measure(target, progress) {
  return withUsers(target, MAIN_CONCURRENCY, async (users) => {
    await forEach({ users, items: Array.from({ length: WARM_UP_CYCLES }), act: runCycle });
    const endsAt = Date.now() + (await leadMs(users));
    const expiresAt = new Date(endsAt).toISOString();
    const ids = await forEach({
      users,
      items: Array.from({ length: DEADLINE_QUESTIONS }),
      act: (user) => user.ask(expiresAt),
    });
    const stride = Math.floor(ids.length / DEADLINE_WAITS);
    const waits = await parkWaits({ target, ids: ids.filter((_, index) => index % stride === 0) });
    const marginMs = endsAt - Date.now();
    progress(`${target.name}: asked ${ids.length}, ${waits.length} wait, ${marginMs} ms left`);
    if (marginMs < DEADLINE_MARGIN_MS) throw new Error(`asking took too long: ${marginMs} ms were left`);
    await sleep(marginMs + DEADLINE_OBSERVED_MS);
    const told = await Promise.all(waits.map((wait) => lagOf(wait, endsAt)));
    const ended = await endsOf(users[0], new Set(ids));
    await Promise.all(waits.map(cutConnection));
    return { ...summaryOfEnds(ended, endsAt), ...summaryOfWaits(told) };
  });
}

/** Long enough to ask them all before, judged by how long some take. */
async function leadMs(users) {
  const startedAt = performance.now();
  await forEach({ users, items: Array.from({ length: DEADLINE_TRIAL }), act: (user) => user.ask() });
  const estimateMs = ((performance.now() - startedAt) * DEADLINE_QUESTIONS) / DEADLINE_TRIAL;
  return DEADLINE_LEAD_MS + Math.ceil(estimateMs * DEADLINE_ESTIMATE_FACTOR);
}

/** Both clocks are this machine's; the outcome's has whole milliseconds, so the lag is at most 1 ms too long. */
async function lagOf({ response }, endsAt) {
  const { status, body, receivedAt } = await response;
  const question = JSON.parse(body.toString());
  if (status !== 200 || question.state !== 'expired') throw new Error(`a wait ended with ${status} ${body}`);
  const at = Date.parse(question.outcome.at);
  const receivedTime = performance.timeOrigin + receivedAt;
  return { lagMs: receivedTime - at, afterDeadlineMs: receivedTime - endsAt, earlyByMs: endsAt - at };
}

/** When each of the questions ended, read through the list only after everything should be over. */
async function endsOf(user, wanted) {
  const ends = [];
  let cursor = null;
  do {
    const query = `limit=${DEADLINE_PAGE}${cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`}`;
    const page = JSON.parse((await user.list(query)).body.toString());
    for (const question of page.data) {
      if (!wanted.delete(question.id)) continue;
      if (question.state !== 'expired') throw new Error(`a question is ${question.state} after its deadline`);
      ends.push(Date.parse(question.outcome.at));
    }
    cursor = page.nextCursor;
  } while (cursor !== null && wanted.size > 0);
  if (wanted.size > 0) throw new Error(`${wanted.size} questions are not in the list`);
  return ends;
}

function summaryOfEnds(ends, endsAt) {
  return {
    questions: ends.length,
    early: ends.filter((at) => at < endsAt).length,
    firstAfterMs: ends.reduce((least, at) => Math.min(least, at), Number.POSITIVE_INFINITY) - endsAt,
    allSettledAfterMs: ends.reduce((most, at) => Math.max(most, at), 0) - endsAt,
  };
}

function summaryOfWaits(told) {
  const lags = told.map(({ lagMs }) => lagMs);
  return {
    waits: told.length,
    earlyWaits: told.filter(({ earlyByMs }) => earlyByMs > 0).length,
    lagP50: percentile(lags, 0.5),
    lagP99: percentile(lags, 0.99),
    lagMax: percentile(lags, 1),
    lastToldAfterMs: percentile(
      told.map(({ afterDeadlineMs }) => afterDeadlineMs),
      1,
    ),
  };
}
