import { closeConnection, connectionTo, exchange, expectStatus, jsonOf } from './exchange.mjs';

const JSON_HEADERS = ['content-type', 'application/json'];
const QUESTION = JSON.stringify({
  prompt: 'Deploy build 1234 to production?',
  context: 'All 512 checks are green. The last deployment was 3 hours ago.',
  options: [
    { id: 'yes', label: 'Yes, deploy' },
    { id: 'no', label: 'No, hold it back' },
  ],
  scope: { kind: 'direct', user: 'user:ada' },
  metadata: { build: 1234, pipeline: 'main' },
});
const ANSWER = JSON.stringify({ option: 'yes' });

/** The same as `RestUser` in Restate's words: a handler that awaits an awakeable, attached to and resolved. */
export class RestateUser {
  #front;
  #parked;
  #published;

  constructor({ ingress, published }) {
    this.#front = connectionTo(ingress);
    this.#parked = connectionTo(ingress);
    this.#published = connectionTo(published);
  }

  async ask() {
    const sent = await exchange(this.#front, {
      path: '/questions/ask/send',
      method: 'POST',
      headers: JSON_HEADERS,
      body: QUESTION,
    });
    const { invocationId } = jsonOf(sent, 202);
    const response = await exchange(this.#published, { path: `/awakeables/${invocationId}`, method: 'GET' });
    return { invocationId, awakeable: jsonOf(response, 200).id };
  }

  wait({ invocationId }) {
    return exchange(this.#parked, { path: `/restate/invocation/${invocationId}/attach`, method: 'GET' });
  }

  answer({ awakeable }) {
    return exchange(this.#front, {
      path: `/restate/awakeables/${awakeable}/resolve`,
      method: 'POST',
      headers: JSON_HEADERS,
      body: ANSWER,
    });
  }

  checkWait(response) {
    const question = jsonOf(response, 200);
    if (question.state !== 'answered') throw new Error(`an attachment ended with state ${question.state}`);
  }

  checkAnswer(response) {
    expectStatus(response, 202);
  }

  async close() {
    await Promise.all([this.#front, this.#parked, this.#published].map(closeConnection));
  }
}
