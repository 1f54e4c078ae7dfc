/** The ids of awakeables by the invocation that made them; whoever asks before there is one is kept waiting. */
export class Published {
  #ids = new Map();
  #asking = new Map();

  publish(invocation, awakeable) {
    const reply = this.#asking.get(invocation);
    if (reply === undefined) {
      this.#ids.set(invocation, awakeable);
      return;
    }
    this.#asking.delete(invocation);
    reply(awakeable);
  }

  take(invocation) {
    const id = this.#ids.get(invocation);
    if (id !== undefined) {
      this.#ids.delete(invocation);
      return id;
    }
    return new Promise((resolve) => this.#asking.set(invocation, resolve));
  }
}
