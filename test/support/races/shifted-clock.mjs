// `node --import …/shifted-clock.mjs`: the wall clock of the process is wrong by `SHIFTED_CLOCK_MS`.
const shiftMs = Number(process.env.SHIFTED_CLOCK_MS);
const RightDate = Date;

globalThis.Date = class ShiftedDate extends RightDate {
  constructor(...given) {
    super(...(given.length === 0 ? [RightDate.now() + shiftMs] : given));
  }

  static now() {
    return RightDate.now() + shiftMs;
  }
};
