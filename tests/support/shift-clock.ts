/**
 * Loaded with `--import`: shifts the date of the whole process by CLOCK_AHEAD_MS, as on a machine with a wrong clock.
 * Timers and `performance` do not change.
 */
const aheadMs = Number(process.env.CLOCK_AHEAD_MS);

globalThis.Date = new Proxy(Date, {
  construct: (date, args) => Reflect.construct(date, args.length === 0 ? [date.now() + aheadMs] : args),
  get: (date, key) => (key === "now" ? () => date.now() + aheadMs : Reflect.get(date, key)),
});
