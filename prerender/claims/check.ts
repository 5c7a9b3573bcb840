import { isAboutOthers, isAsserted } from "./assertion.ts";
import { type ClaimException, toDay } from "./exceptions.ts";
import { RULES, type Rule } from "./rules.ts";
import { type Block, hashOf, type Sentence, sentencesOf } from "./sentences.ts";

/** Something that people read: a page, the settings, a mail. */
export interface CheckedText {
  /** As the report names it, e.g. `/contact`. */
  name: string;
  blocks: readonly Block[];
}

export interface Finding {
  rule: Rule;
  sentence: string;
  hash: string;
  /** The texts that have the sentence; the first says which part of it. */
  places: readonly string[];
}

export interface ClaimsReport {
  textCount: number;
  sentenceCount: number;
  findings: readonly Finding[];
  /** Findings that an exception allows. */
  allowed: readonly { finding: Finding; exception: ClaimException }[];
  /** Exceptions whose day has passed: their finding is reported again. */
  expired: readonly ClaimException[];
  /** Exceptions for sentences that are not there, or no longer found. */
  unused: readonly ClaimException[];
}

export function checkClaims(
  texts: readonly CheckedText[],
  exceptions: readonly ClaimException[],
  now: Date,
  /** How the texts name us. A sentence about one of these is about us. */
  ourNames: readonly string[],
): ClaimsReport {
  const found = new Map<string, Finding & { places: string[] }>();
  let sentenceCount = 0;
  for (const { name, blocks } of texts) {
    for (const sentence of sentencesOf(blocks)) {
      sentenceCount += 1;
      const hash = hashOf(sentence.text);
      for (const rule of rulesBrokenBy(sentence, ourNames)) {
        const key = `${rule.number} ${hash}`;
        const place = `${name} (${sentence.block.part})`;
        const known = found.get(key);
        if (!known) found.set(key, { rule, sentence: sentence.text, hash, places: [place] });
        else if (!known.places.some((one) => one.startsWith(`${name} (`))) known.places.push(place);
      }
    }
  }
  const isFor = (exception: ClaimException, { rule, hash }: Finding) =>
    exception.rule === rule.number && exception.sentence === hash;
  const expired = exceptions.filter(({ until }) => until < toDay(now));
  const valid = exceptions.filter((exception) => !expired.includes(exception));
  const all = [...found.values()];
  const allowed = all.flatMap((finding) => {
    const exception = valid.find((one) => isFor(one, finding));
    return exception ? [{ finding, exception }] : [];
  });
  return {
    textCount: texts.length,
    sentenceCount,
    findings: all
      .filter((finding) => !allowed.some((one) => one.finding === finding))
      .toSorted((a, b) => Number(a.rule.level !== "error") - Number(b.rule.level !== "error")),
    allowed,
    expired,
    unused: valid.filter((exception) => !all.some((finding) => isFor(exception, finding))),
  };
}

/** At most one finding of each rule. */
export function rulesBrokenBy(sentence: Sentence, ourNames: readonly string[]): Rule[] {
  const broken = RULES.filter((rule) => isBroken(rule, sentence, ourNames));
  const hidden = new Set(broken.flatMap(({ hides }) => hides));
  return broken.filter(({ number }) => !hidden.has(number));
}

function isBroken(rule: Rule, { unquoted, text, context }: Sentence, ourNames: readonly string[]): boolean {
  const { cleared } = rule;
  const isClear =
    cleared?.by?.test(cleared.within === "block" ? context.text : text) ||
    context.links.some(
      ({ text: words, href }) =>
        // A link that leads nowhere shows nothing.
        !/^[#/]?$/.test(href) && (cleared?.link?.test(words) || cleared?.link?.test(href)),
    );
  if (isClear) return false;
  return rule.patterns.some((pattern) =>
    [...unquoted.matchAll(pattern)].some((match) => {
      const term = match.groups?.term ?? match[0];
      const start = match.index + match[0].lastIndexOf(term);
      if (rule.notAfter?.test(clauseOf(unquoted, start))) return false;
      const phrase = { sentence: unquoted, start, end: start + term.length };
      return isAsserted(phrase) && !(rule.isAboutUs && isAboutOthers(phrase, ourNames));
    }),
  );
}

function clauseOf(sentence: string, end: number): string {
  return (
    sentence
      .slice(0, end)
      .split(/[;:]\s/)
      .at(-1) ?? ""
  );
}

export function hasErrors({ findings }: ClaimsReport): boolean {
  return findings.some(({ rule }) => rule.level === "error");
}

/** What was looked for and what was found. It judges wording, so it never says that a text keeps the law. */
export function reportText({ findings, ...report }: ClaimsReport): string {
  const lines = findings.map(({ rule, sentence, hash, places: [first = "", ...others] }) =>
    [
      `${rule.level} in ${first}${others.length > 0 ? ` and ${others.length} more` : ""}: ${sentence}`,
      `  rule ${rule.number}, ${rule.name}: ${rule.reason}`,
      `  better: ${rule.better}`,
      `  sentence ${hash}`,
    ].join("\n"),
  );
  for (const { sentence, rule, until } of report.expired) {
    lines.push(`warning: the exception for sentence ${sentence}, rule ${rule}, ended on ${until}; decide again.`);
  }
  for (const { sentence, rule } of report.unused) {
    lines.push(
      `warning: the exception for sentence ${sentence}, rule ${rule}, is unused: the sentence was changed or removed. Delete it.`,
    );
  }
  for (const { finding, exception } of report.allowed) {
    lines.push(
      `allowed until ${exception.until} by ${exception.decidedBy} (${exception.reason}; ${exception.evidence}), rule ${finding.rule.number}: ${finding.sentence}`,
    );
  }
  return [...lines, summary({ findings, ...report })].join("\n");
}

export function summary({ textCount, sentenceCount, findings, expired, unused }: ClaimsReport): string {
  const errors = findings.filter(({ rule }) => rule.level === "error").length;
  const warnings = findings.length - errors + expired.length + unused.length;
  return `Claims: looked for ${RULES.length} kinds of wording in ${sentenceCount} sentences of ${textCount} texts; found ${plural(errors, "error")} and ${plural(warnings, "warning")}.`;
}

function plural(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? "" : "s"}`;
}
