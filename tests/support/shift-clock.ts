/**
 * Loaded with `--import`: the date of the whole process is off by CLOCK_AHEAD_MS, as on a machine whose clock is wrong.
 * Timers and `performance` go on as they are.
 */
const aheadMs = Number(process.env.CLOCK_AHEAD_MS);

globalThis.Date = new Proxy(Date, {
  construct: (date, args) => Reflect.construct(date, args.length === 0 ? [date.now() + aheadMs] : args),
  get: (date, key) => (key === "now" ? () => date.now() + aheadMs : Reflect.get(date, key)),
});
