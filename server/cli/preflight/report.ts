import { visible } from "../visible-text.ts";
import type { Finding } from "./finding.ts";

/** One line for each finding, then the verdict. What came from outside cannot play tricks on a terminal. */
export function report(findings: readonly Finding[]): string {
  const width = Math.max(...findings.map(({ name }) => name.length));
  const lines = findings.map(({ name, state, detail, remedy }) => {
    const line = `${state === "fail" ? "FAIL" : state.padEnd(4)}  ${name.padEnd(width)}  ${visible(detail)}`;
    return remedy === "" ? line : `${line} -> ${visible(remedy)}`;
  });
  return `${[...lines, "", verdict(findings)].join("\n")}\n`;
}

/** 0 when the site may be launched: warnings do not hold it up. */
export function exitCodeFor(findings: readonly Finding[]): 0 | 1 {
  return findings.some(({ state }) => state === "fail") ? 1 : 0;
}

function verdict(findings: readonly Finding[]): string {
  const count = (state: Finding["state"]) => findings.filter((finding) => finding.state === state).length;
  const warnings = count("warn") === 1 ? "1 warning" : `${count("warn")} warnings`;
  return exitCodeFor(findings) === 0
    ? `Ready for launch, ${warnings}.`
    : `Not ready: ${count("fail")} failed, ${warnings}.`;
}
