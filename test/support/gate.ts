/** Holds whoever comes until it is opened. */
export class Gate {
  #open: () => void = () => {};
  #arrive: () => void = () => {};
  readonly #opened = new Promise<void>((resolve) => {
    this.#open = resolve;
  });
  /** Resolves when the first has come. */
  readonly reached = new Promise<void>((resolve) => {
    this.#arrive = resolve;
  });

  pass(): Promise<void> {
    this.#arrive();
    return this.#opened;
  }

  open(): void {
    this.#open();
  }
}
