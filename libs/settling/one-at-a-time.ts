/** Lets work of the same name run one after the other, in the order in which it came. Names that are idle cost nothing. */
export class OneAtATime {
  readonly #last = new Map<string, Promise<unknown>>();

  run<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
    const result = (this.#last.get(name) ?? Promise.resolve()).then(work);
    const ended = result
      .catch(() => {})
      .finally(() => {
        if (this.#last.get(name) === ended) this.#last.delete(name);
      });
    this.#last.set(name, ended);
    return result;
  }
}
