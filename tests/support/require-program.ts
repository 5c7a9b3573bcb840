import { isInstalled, TEST_PROGRAMS } from "../../scripts/programs.mjs";

/** A runner's own way to skip a test, which ends it. */
export type Skip = (reason: string) => never;

export type Program = keyof typeof TEST_PROGRAMS;

/** Ends the test where one of these programs is not installed: as a failure in CI, else as skipped. */
export function requirePrograms(skip: Skip, ...names: readonly Program[]): void {
  const absent = names.find((name) => !isInstalled(name));
  if (absent === undefined) return;
  missing(skip, `${absent} is not installed; the Debian packages are ${TEST_PROGRAMS[absent].join(" ")}`);
}

/** Ends the test because something is missing: as a failure where CI is set, so that nothing stays untested; else as skipped. */
export function missing(skip: Skip, reason: string): never {
  if (process.env.CI) throw new Error(`${reason} (a failure because CI is set; without CI this test is skipped)`);
  return skip(reason);
}
