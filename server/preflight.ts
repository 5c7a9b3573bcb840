import { Resolver } from "node:dns/promises";
import { fileURLToPath } from "node:url";
import { type Finding, fail } from "./cli/preflight/finding.ts";
import { exitCodeFor, report } from "./cli/preflight/report.ts";
import { runChecks } from "./cli/preflight/run-checks.ts";
import { ConfigError, parseConfig } from "./config.ts";

const DIST_DIR = fileURLToPath(new URL("../dist/", import.meta.url));
const DNS_PATIENCE = { timeout: 2000, tries: 1 };

const findings = await check();
process.stdout.write(report(findings));
process.exitCode = exitCodeFor(findings);

/** With wrong settings there is nothing else to look at. */
async function check(): Promise<Finding[]> {
  try {
    const config = parseConfig(process.env);
    return await runChecks({ config, distDir: DIST_DIR, resolver: new Resolver(DNS_PATIENCE) });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.problems.map((problem) => {
      const [detail = "", ...remedy] = problem.split("; ");
      return fail("settings", detail, remedy.join("; "));
    });
  }
}
