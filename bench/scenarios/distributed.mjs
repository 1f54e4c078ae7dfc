import { setTimeout as sleep } from 'node:timers/promises';
import kafkajs from 'kafkajs';
import { RestUser } from '../client/rest-user.mjs';
import {
  FIRST_WARM_UP_MS,
  LAG_EVENTS_PER_SECOND,
  LAG_OBSERVED_MS,
  MAIN_CONCURRENCY,
  PAUSE_BETWEEN_SLOTS_MS,
  RELAY_EVENTS,
  RELAY_LOOK_AGAIN_MS,
  RELAY_TIMEOUT_MS,
  WARM_UP_MS,
} from '../limits.mjs';
import { closedLoop, forEach } from '../load/closed-loop.mjs';
import { runCycle } from '../load/cycle.mjs';
import { withUsers } from '../load/users.mjs';
import { percentile } from '../measure/statistics.mjs';
import { Distributed, whyNotDistributed } from '../targets/distributed.mjs';
import { makeKeys } from '../targets/settled.mjs';

const TOPIC = 'settled.questions.v1';

/** Several processes on one PostgreSQL and one Kafka: what waits elsewhere cost, and how far publication is behind. */
export async function distributed({ rounds, slotSeconds, progress }) {
  const why = await whyNotDistributed();
  if (why !== null)
    return { missing: [{ name: 'distributed', label: 'The distributed mode', why }], slots: [] };
  const services = await Distributed.start({ kafka: true });
  try {
    const relay = await measureRelay(services, progress);
    const [first, second] = [
      await services.questions({ kafka: true }),
      await services.questions({ kafka: true }),
    ];
    await leader([first, second]);
    const keys = await makeKeys(first.origin);
    const lag = await measureLag({ services, origin: first.origin, keys, progress });
    const slots = await measureWaits({ first, second, keys, rounds, slotSeconds, progress });
    return { missing: [], relay, lag, slots };
  } finally {
    await services.stop();
  }
}

/** How fast a relay that has fallen behind catches up. */
async function measureRelay(services, progress) {
  const writer = await services.questions({ kafka: false });
  const keys = await makeKeys(writer.origin);
  const target = { user: () => new RestUser({ origin: writer.origin, ...keys }) };
  await withUsers(target, MAIN_CONCURRENCY, (users) =>
    forEach({ users, items: Array.from({ length: RELAY_EVENTS }), act: (user) => user.ask() }),
  );
  progress(`${RELAY_EVENTS} events in the log`);
  await writer.stop();
  const { origin, stop } = await services.questions({ kafka: true });
  await leader([{ origin }]);
  const [startedAt, before] = [performance.now(), await published(origin)];
  while ((await published(origin)) < RELAY_EVENTS) {
    await sleep(RELAY_LOOK_AGAIN_MS);
    if (performance.now() - startedAt > RELAY_TIMEOUT_MS) throw new Error('the relay does not catch up');
  }
  const perSecond = ((RELAY_EVENTS - before) * 1_000) / (performance.now() - startedAt);
  progress(`the relay published ${perSecond.toFixed(0)} events/s`);
  await stop();
  return { events: RELAY_EVENTS, perSecond };
}

/** From the commit of an event, by the database's clock, to its receipt by a consumer of what is committed. */
async function measureLag({ services, origin, keys, progress }) {
  const reader = await Reader.start(services.brokers);
  const target = { user: () => new RestUser({ origin, ...keys }) };
  try {
    await withUsers(target, MAIN_CONCURRENCY, async (users) => {
      const everyMs = 2_000 / LAG_EVENTS_PER_SECOND;
      const cycles = (LAG_OBSERVED_MS + FIRST_WARM_UP_MS) / everyMs;
      const startedAt = performance.now();
      const act = async (user, due) => {
        await sleep(startedAt + due - performance.now());
        await runCycle(user);
      };
      reader.from(performance.timeOrigin + startedAt + FIRST_WARM_UP_MS);
      await forEach({ users, items: Array.from({ length: cycles }, (_, index) => index * everyMs), act });
    });
    await sleep(PAUSE_BETWEEN_SLOTS_MS);
    const { lags } = reader;
    const result = { events: lags.length, p50: percentile(lags, 0.5), p99: percentile(lags, 0.99) };
    progress(
      `publication lags ${result.p50.toFixed(0)} ms, p99 ${result.p99.toFixed(0)} ms, of ${lags.length} events`,
    );
    return result;
  } finally {
    await reader.stop();
  }
}

/** Notes of each event that is committed from some time on how late it comes. */
class Reader {
  lags = [];
  #from = Number.POSITIVE_INFINITY;
  #consumer;

  static async start(brokers) {
    const reader = new Reader();
    const kafka = new kafkajs.Kafka({ brokers, logLevel: kafkajs.logLevel.NOTHING });
    reader.#consumer = kafka.consumer({ groupId: 'bench', readUncommitted: false });
    await reader.#consumer.connect();
    await reader.#consumer.subscribe({ topics: [TOPIC], fromBeginning: false });
    const joined = new Promise((resolve) => reader.#consumer.on('consumer.group_join', resolve));
    await reader.#consumer.run({ autoCommit: false, eachBatch: ({ batch }) => reader.#note(batch) });
    await joined;
    return reader;
  }

  from(time) {
    this.#from = time;
  }

  async #note({ messages }) {
    const now = Date.now();
    for (const { headers } of messages) {
      const at = Date.parse(String(headers.ce_time));
      if (at >= this.#from) this.lags.push(now - at);
    }
  }

  stop() {
    return this.#consumer.disconnect();
  }
}

/** Cycles that wait at the process that answers, and at the other one, in turns. */
async function measureWaits({ first, second, keys, rounds, slotSeconds, progress }) {
  const places = [
    { place: 'the same process', waitOrigin: first.origin },
    { place: 'another process', waitOrigin: second.origin },
  ];
  const measure = ({ waitOrigin }, durationMs) => {
    const target = { user: () => new RestUser({ origin: first.origin, waitOrigin, ...keys }) };
    return withUsers(target, MAIN_CONCURRENCY, (users) =>
      closedLoop({ users, warmUpMs: WARM_UP_MS, durationMs, act: runCycle, snapshot: () => null }),
    );
  };
  for (const place of places) await measure(place, FIRST_WARM_UP_MS);
  const slots = [];
  for (let round = 0; round < rounds; round++) {
    for (const place of places) {
      const { perSecond, results } = await measure(place, slotSeconds * 1_000);
      const [p50, p99] = [percentile(results, 0.5), percentile(results, 0.99)];
      slots.push({ target: place.place, concurrency: MAIN_CONCURRENCY, round, perSecond, p50, p99 });
      progress(
        `round ${round + 1}/${rounds}: waits at ${place.place} ${perSecond.toFixed(0)}/s, p99 ${p99.toFixed(1)} ms`,
      );
      await sleep(PAUSE_BETWEEN_SLOTS_MS);
    }
  }
  return slots;
}

async function leader(processes) {
  const startedAt = performance.now();
  for (;;) {
    const leads = await Promise.all(processes.map(({ origin }) => figure(origin, 'settled_relay_leader')));
    if (leads.includes(1)) return;
    if (performance.now() - startedAt > RELAY_TIMEOUT_MS) throw new Error('no relay leads');
    await sleep(RELAY_LOOK_AGAIN_MS);
  }
}

function published(origin) {
  return figure(origin, 'settled_relay_published_events_total');
}

async function figure(origin, name) {
  const text = await (await fetch(`${origin}/metrics`)).text();
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);
}
