import { isInstalled, TEST_PROGRAMS } from "../../scripts/programs.mjs";

/** Vitest's `skip` of a test's context, which ends the test. */
export type Skip = (reason: string) => never;

/** Ends the test where a program is missing: see `missing`. */
export function requirePrograms(skip: Skip, ...names: readonly string[]): void {
  const absent = names.find((name) => !isInstalled(name));
  if (absent !== undefined)
    missing(skip, `${absent} is not installed; install the Debian package ${TEST_PROGRAMS[absent]}`);
}

/** Ends the test with the reason: as a failure where CI is set, so that nothing stays untested there; else as skipped. */
export function missing(skip: Skip, reason: string): never {
  if (process.env.CI) throw new Error(`${reason} (a failure because CI is set; without CI this test is skipped)`);
  return skip(reason);
}
