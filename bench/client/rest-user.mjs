import { once } from 'node:events';
import { CONNECT_TIMEOUT_MS, LIST_LIMIT, QUESTION_LIFE_SECONDS, WAIT_TIMEOUT_SECONDS } from '../limits.mjs';
import { closeConnection, connectionTo, exchange, expectStatus, jsonOf } from './exchange.mjs';

const QUESTION = {
  prompt: 'Deploy build 1234 to production?',
  context: 'All 512 checks are green. The last deployment was 3 hours ago.',
  options: [
    { id: 'yes', label: 'Yes, deploy' },
    { id: 'no', label: 'No, hold it back' },
  ],
  scope: { kind: 'direct', user: 'user:ada' },
  metadata: { build: 1234, pipeline: 'main' },
};
const ANSWER = JSON.stringify({ option: 'yes' });
const BODY = JSON.stringify({ ...QUESTION, expiresIn: QUESTION_LIFE_SECONDS });

/**
 * One asker and one person with two connections: the wait stays parked on one of them while the other
 * carries everything else. Speaks Settled's REST contract, which the peers (a), (c) and (d) serve too.
 */
export class RestUser {
  #front;
  #parked;
  #askHeaders;
  #answerHeaders;

  /** `waitOrigin`: the instance at which to wait, when it is another one. */
  constructor({ origin, waitOrigin = origin, askKey, answerKey }) {
    this.#front = connectionTo(origin);
    this.#parked = connectionTo(waitOrigin);
    this.#askHeaders = ['authorization', `Bearer ${askKey}`];
    this.#answerHeaders = ['authorization', `Bearer ${answerKey}`, 'content-type', 'application/json'];
  }

  /** Resolves with the handle that the other calls take: here the question's id. */
  async ask(expiresAt) {
    const response = await exchange(this.#front, {
      path: '/v1/questions',
      method: 'POST',
      headers: [...this.#askHeaders, 'content-type', 'application/json'],
      body: expiresAt === undefined ? BODY : JSON.stringify({ ...QUESTION, expiresAt }),
    });
    return jsonOf(response, 201).id;
  }

  /** The request is written before this returns; the promise is the response. */
  wait(id) {
    return exchange(this.#parked, {
      path: `/v1/questions/${id}/wait?timeout=${WAIT_TIMEOUT_SECONDS}`,
      method: 'GET',
      headers: this.#askHeaders,
    });
  }

  /** The first wait of a user: `connected` resolves when it is about to be written, `response` as that of `wait`. */
  park(id) {
    const connected = once(this.#parked, 'connect', { signal: AbortSignal.timeout(CONNECT_TIMEOUT_MS) });
    return { connected, response: this.wait(id) };
  }

  answer(id) {
    return exchange(this.#front, {
      path: `/v1/questions/${id}/answer`,
      method: 'POST',
      headers: this.#answerHeaders,
      body: ANSWER,
    });
  }

  checkWait(response) {
    const question = jsonOf(response, 200);
    if (question.state !== 'answered') throw new Error(`a wait resumed with state ${question.state}`);
  }

  checkAnswer(response) {
    if (jsonOf(response, 200).applied !== true) throw new Error('an answer was not applied');
  }

  async fetch(id) {
    const response = await exchange(this.#front, {
      path: `/v1/questions/${id}`,
      method: 'GET',
      headers: this.#askHeaders,
    });
    expectStatus(response, 200);
    return response;
  }

  async list(query = `limit=${LIST_LIMIT}`) {
    const response = await exchange(this.#front, {
      path: `/v1/questions?${query}`,
      method: 'GET',
      headers: this.#askHeaders,
    });
    expectStatus(response, 200);
    return response;
  }

  async close() {
    await Promise.all([closeConnection(this.#front), closeConnection(this.#parked)]);
  }

  /** Without waiting for what is parked. */
  async cut() {
    await Promise.all([this.#front.destroy(), this.#parked.destroy()]);
  }
}
