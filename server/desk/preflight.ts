import type { Command } from "commander";
import { remedyText } from "../../contract/commands.ts";
import { plural, visible } from "../../contract/text.ts";
import { visibleJson } from "./export.ts";
import type { Finding } from "./preflight-checks.ts";
import { addCommand, type Context, JSON_OPTION } from "./terminal/context.ts";
import { table } from "./terminal/output.ts";

export function addPreflight(root: Command, { readConfig, out, setExitCode, program }: Context): void {
  const notes = `Checks the settings, the build, the disk, the database, the mail server, the sender's DNS records and the public site.
Posts a signed ping to HOOK_URL and a test alert to ALERT_URL, if they are set. Sends no email and changes nothing.
Exits with 1 if a check fails; warnings do not count.`;
  addCommand(root, "preflight", "check everything that can be checked before launch", [JSON_OPTION], notes).action(
    async ({ json }: { json?: true }) => {
      // Loaded on demand, because no other command needs the mail and page code.
      const { runChecks } = await import("./preflight-checks.ts");
      const findings = (await runChecks(readConfig)).map(({ command, ...finding }) => ({
        ...finding,
        remedy: remedyText({ remedy: finding.remedy, command }, program),
      }));
      out(json ? visibleJson(findings) : report(findings));
      setExitCode(exitCodeFor(findings));
    },
  );
}

/** One line for each finding, then the verdict. Escapes control characters in text from other systems. */
export function report(findings: readonly Finding[]): string {
  const rows = findings.map(({ name, state, detail, remedy }) => [
    (state === "fail" ? "FAIL" : state).padEnd(4),
    name,
    visible(remedy === "" ? detail : `${detail} -> ${remedy}`),
  ]);
  const count = (state: Finding["state"]) => findings.filter((finding) => finding.state === state).length;
  const verdict = exitCodeFor(findings) === 0 ? "Ready for launch" : `Not ready: ${count("fail")} failed`;
  return `${table(rows)}\n${verdict}, ${plural(count("warn"), "warning")}.\n`;
}

/** 0 if the site is ready for launch. Warnings do not prevent a launch. */
export function exitCodeFor(findings: readonly Finding[]): 0 | 1 {
  return findings.some(({ state }) => state === "fail") ? 1 : 0;
}
