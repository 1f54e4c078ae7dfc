/** Those who wait in this process, by question. */
export class Waiters {
  #byQuestion = new Map();

  /** `{settled, leave}`: the promise is the settled question, or null after the timeout or `leave`. */
  join(id, timeoutMs) {
    const waiter = {};
    const settled = new Promise((resolve) => {
      waiter.resolve = resolve;
    });
    const waiters = this.#byQuestion.get(id) ?? new Set();
    this.#byQuestion.set(id, waiters.add(waiter));
    const leave = () => {
      clearTimeout(timer);
      waiters.delete(waiter);
      if (waiters.size === 0) this.#byQuestion.delete(id);
      waiter.resolve(null);
    };
    const timer = setTimeout(leave, timeoutMs);
    waiter.wake = (question) => {
      clearTimeout(timer);
      waiter.resolve(question);
    };
    return { settled, leave };
  }

  wake(question) {
    const waiters = this.#byQuestion.get(question.id);
    if (waiters === undefined) return;
    this.#byQuestion.delete(question.id);
    for (const waiter of waiters) waiter.wake(question);
  }

  releaseAll() {
    for (const waiters of this.#byQuestion.values()) for (const waiter of waiters) waiter.wake(null);
    this.#byQuestion.clear();
  }
}
