import { median, pairedRatio } from '../measure/statistics.mjs';

/** Looks into the slots of a scenario: the values of a figure over its rounds, their median, and ratios. */
export class Rounds {
  #slots;

  constructor(slots) {
    this.#slots = slots;
  }

  values(where, figure) {
    return this.#slots
      .filter((slot) => Object.entries(where).every(([key, value]) => slot[key] === value))
      .sort((a, b) => a.round - b.round)
      .map((slot) => slot[figure]);
  }

  median(where, figure) {
    return median(this.values(where, figure));
  }

  /** The least and the most, which tell a steady figure from one that swings. */
  range(where, figure, show) {
    const values = this.values(where, figure);
    return `${show(Math.min(...values))}–${show(Math.max(...values))}`;
  }

  /** Median of the ratios within each round. */
  ratio(where, otherWhere, figure) {
    return pairedRatio(this.values(where, figure), this.values(otherWhere, figure));
  }
}
