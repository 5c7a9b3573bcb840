import { isInstalled, TEST_PROGRAMS } from "./programs.ts";

/** The test runner's function that skips and ends a test. */
export type Skip = (reason: string) => never;

export type Program = keyof typeof TEST_PROGRAMS;

/** Ends the test if one of these programs is not installed: as failed in CI, otherwise as skipped. */
export function requirePrograms(skip: Skip, ...names: readonly Program[]): void {
  const absent = names.find((name) => !isInstalled(name));
  if (absent === undefined) return;
  missing(skip, `${absent} is not installed; the Debian packages are ${TEST_PROGRAMS[absent].join(" ")}`);
}

/**
 * Ends the test because something is missing: as failed if CI is set, so that CI leaves nothing untested; otherwise as
 * skipped.
 */
export function missing(skip: Skip, reason: string): never {
  if (process.env.CI) throw new Error(`${reason} (a failure because CI is set; without CI this test is skipped)`);
  return skip(reason);
}
