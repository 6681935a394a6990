/** Preloaded into a process (`--import`): its clock is wrong by CLOCK_SHIFT_MS, like that of a host without time synchronisation. */
const shift = Number(process.env.CLOCK_SHIFT_MS ?? 0);
const Right = Date;

globalThis.Date = class extends Right {
  constructor(...given) {
    if (given.length) super(...given);
    else super(Right.now() + shift);
  }

  static now() {
    return Right.now() + shift;
  }
};
