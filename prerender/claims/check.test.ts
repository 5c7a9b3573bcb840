import { describe, expect, test } from "vitest";
import { type CheckedText, checkClaims, hasErrors, reportText, rulesBrokenBy } from "./check.ts";
import { type CorpusEntry, KNOWN, UNSEEN } from "./corpus.ts";
import { type ClaimException, parseExceptions } from "./exceptions.ts";
import { RULES } from "./rules.ts";
import { blocksOfHtml, hashOf, sentencesOf } from "./sentences.ts";

const OUR_NAMES = ["Brighter Carbon"];

function rulesFoundIn(html: string): number[] {
  const found = sentencesOf(blocksOfHtml(`<p>${html}</p>`)).flatMap((sentence) => rulesBrokenBy(sentence, OUR_NAMES));
  return [...new Set(found.map(({ number }) => number))].toSorted();
}

describe.each(RULES)("rule $number, $name", ({ number, examples }) => {
  test.each(examples.found)("finds: %s", (example) => expect(rulesFoundIn(example)).toContain(number));
  test.each(examples.notFound)("does not find: %s", (example) => expect(rulesFoundIn(example)).not.toContain(number));
});

interface Score {
  right: number;
  wrong: number;
  missed: number;
}

const precision = ({ right, wrong }: Score) => right / (right + wrong);
const recall = ({ right, missed }: Score) => right / (right + missed);

/** Counts each pair of a sentence and a rule, for all rules and for each. */
function scoresOf(entries: readonly CorpusEntry[]): Map<number | "all", Score> {
  const scores = new Map<number | "all", Score>();
  for (const [html, ...expected] of entries) {
    const found = rulesFoundIn(html);
    for (const rule of new Set([...expected, ...found])) {
      const kind = !found.includes(rule) ? "missed" : expected.includes(rule) ? "right" : "wrong";
      for (const key of [rule, "all"] as const) {
        const score = scores.get(key) ?? { right: 0, wrong: 0, missed: 0 };
        score[kind] += 1;
        scores.set(key, score);
      }
    }
  }
  return scores;
}

function print(title: string, entries: readonly CorpusEntry[], scores: ReadonlyMap<number | "all", Score>): void {
  const rows = [...scores].toSorted(([a], [b]) => String(a).localeCompare(String(b)));
  console.log(
    [
      `${title}: ${entries.length} sentences, ${entries.filter((entry) => entry.length === 1).length} of them innocent`,
      ...rows.map(
        ([rule, score]) =>
          `  ${rule === "all" ? "all   " : `rule ${rule}`}  precision ${precision(score).toFixed(2)}  recall ${recall(score).toFixed(2)}  (${score.right} right, ${score.wrong} wrong, ${score.missed} missed)`,
      ),
    ].join("\n"),
  );
}

// The rules were changed until all of these but one claim passed, so any other failure is new. The figures for the other
// list are those of its first run, on wording that no rule was made for; below them, a change made the check worse for
// texts that nobody has written yet.
test.each([
  ["the rules were changed with these", KNOWN, 1, 0.99],
  ["no rule was changed with these", UNSEEN, 0.84, 0.95],
] as const)("corpus, %s", (title, entries, leastPrecision, leastRecall) => {
  const scores = scoresOf(entries);
  print(title, entries, scores);
  const all = scores.get("all") ?? { right: 0, wrong: 0, missed: 0 };
  expect(precision(all)).toBeGreaterThanOrEqual(leastPrecision);
  expect(recall(all)).toBeGreaterThanOrEqual(leastRecall);
});

test("the corpus has at least 80 sentences, about half of them innocent, and three of each rule", () => {
  const corpus = [...KNOWN, ...UNSEEN];
  const innocent = corpus.filter((entry) => entry.length === 1).length;
  expect(corpus.length).toBeGreaterThanOrEqual(80);
  expect(Math.abs(innocent / corpus.length - 0.5)).toBeLessThan(0.05);
  for (const { number } of RULES)
    expect(corpus.filter(([, ...rules]) => rules.includes(number)).length).toBeGreaterThan(3);
});

describe("what is no claim", () => {
  test.each([
    "We are not carbon neutral.",
    "You cannot become climate neutral by buying credits.",
    "Buying credits won’t make you net zero.",
    "Neither we nor our customers are carbon neutral.",
    "No product, service or person becomes climate neutral by paying.",
    "Credits do not make you or a product carbon neutral: they pay for reductions elsewhere.",
    "It would be wrong to say that a parcel is carbon neutral.",
    "Net zero means that emissions and removals balance.",
    "A company is carbon neutral when it balances what remains with reductions elsewhere.",
    "Are we carbon neutral?",
    "He said: “We are carbon neutral.”",
    "The European Union wants to be climate neutral by 2050.",
    "If your product is carbon neutral, show how.",
    "Whether you are climate neutral is for others to say.",
    "Make no misleading claim, for example that a product is carbon neutral.",
  ])("%s", (sentence) => expect(rulesFoundIn(sentence)).toEqual([]));
});

describe("what only looks like none", () => {
  test.each([
    "We are not only carbon neutral but cheap.",
    "We are not a bank. We are carbon neutral.",
    "We are not a bank, we are carbon neutral.",
    "We don’t just talk, we make you carbon neutral.",
    "There is no doubt that we are carbon neutral.",
    "At no extra cost your parcels are carbon neutral.",
    "It has never been easier to be carbon neutral.",
    "Nothing stands between you and a carbon neutral business.",
    "If you buy today, you are carbon neutral tomorrow.",
    "We are “carbon neutral”.",
    "We promise that every flight is carbon neutral.",
    "You can tell your customers that you are climate neutral.",
    "No one else makes you carbon neutral.",
    "The world knows that Brighter Carbon is climate neutral.",
    "In 30 countries this parcel is carbon neutral.",
    "Standard carbon neutral delivery is included.",
    "The law says much, and the parcel is carbon neutral.",
  ])("%s", (sentence) => expect(rulesFoundIn(sentence)).toEqual([1]));
});

describe("exceptions", () => {
  const NOW = new Date("2026-11-15T12:00:00Z");
  const CLAIM = "We are carbon neutral.";
  const texts = (html: string): CheckedText[] => [{ name: "/about", blocks: blocksOfHtml(html) }];
  const exception = (change: Partial<ClaimException> = {}): ClaimException => ({
    sentence: hashOf(CLAIM),
    rule: 1,
    reason: "our own emissions are nil",
    evidence: "https://example.com/audit.pdf",
    decidedBy: "A. Person",
    until: "2026-11-15",
    ...change,
  });
  const check = (html: string, ...exceptions: ClaimException[]) => checkClaims(texts(html), exceptions, NOW, OUR_NAMES);

  test("without one the claim is an error", () => {
    expect(hasErrors(check(CLAIM))).toBe(true);
  });

  test("one lets the sentence pass to the end of its last day, and the report still says so", () => {
    const report = check(`<p>We&nbsp;are carbon‑<b>neutral</b>.</p>`.replace("‑", " "), exception());
    expect(hasErrors(report)).toBe(false);
    expect(reportText(report)).toContain(
      "allowed until 2026-11-15 by A. Person (our own emissions are nil; https://example.com/audit.pdf), rule 1: We are carbon neutral.",
    );
  });

  test("passing the date voids it", () => {
    const report = check(CLAIM, exception({ until: "2026-11-14" }));
    expect(hasErrors(report)).toBe(true);
    expect(reportText(report)).toMatch(/warning: the exception for sentence [\da-f]{16}, rule 1, ended on 2026-11-14;/);
  });

  test("changing the sentence voids it", () => {
    const report = check("We are now carbon neutral.", exception());
    expect(hasErrors(report)).toBe(true);
    expect(report.unused).toHaveLength(1);
    expect(reportText(report)).toContain("is unused: the sentence was changed or removed. Delete it.");
  });

  test("one for another rule does not count", () => {
    expect(hasErrors(check(CLAIM, exception({ rule: 2 })))).toBe(true);
  });

  test("an unused one is a warning and no error", () => {
    const report = check("Hello.", exception());
    expect(hasErrors(report)).toBe(false);
    expect(reportText(report)).toContain("found 0 errors and 1 warning.");
  });

  test("an incomplete one is refused, with every problem at once", () => {
    expect(parseExceptions(JSON.stringify([exception()])).problems).toEqual([]);
    expect(parseExceptions("{").problems).toEqual(["it is not a JSON list; e.g. []"]);
    expect(
      parseExceptions(
        JSON.stringify([{ ...exception({ sentence: "We are.", until: "2027-02-30" }), reason: " ", rule: 8 }]),
      ).problems,
    ).toEqual([
      'entry 1: "reason" is missing or empty',
      'entry 1: "rule" is not the number of a rule, 1 to 7',
      'entry 1: "sentence" is not a hash as npm run claims prints it',
      'entry 1: "until" is not a day; e.g. 2027-03-31',
    ]);
  });
});

describe("the report", () => {
  const texts: CheckedText[] = [
    { name: "/", blocks: blocksOfHtml("<p>Eco hosting.</p><footer>We are carbon neutral.</footer>") },
    {
      name: "/contact",
      blocks: blocksOfHtml('<footer>We are carbon neutral.</footer><img alt="We are carbon neutral."/>'),
    },
  ];
  const report = reportText(checkClaims(texts, [], new Date(), OUR_NAMES));

  test("names page, sentence, rule, reason and a better wording, errors first, the same sentence once", () => {
    const [first, rule, better, hash, second] = report.split("\n");
    expect(first).toBe("error in / (text) and 1 more: We are carbon neutral.");
    expect(rule).toMatch(/^ {2}rule 1, neutral claim: .+4c/);
    expect(better).toMatch(/^ {2}better: Say what happens: /);
    expect(hash).toBe(`  sentence ${hashOf("We are carbon neutral.")}`);
    expect(second).toBe("warning in / (text): Eco hosting.");
  });

  test("says what was looked for and found, and never that a text keeps the law", () => {
    expect(report).toContain("looked for 7 kinds of wording in 4 sentences of 2 texts; found 1 error and 1 warning.");
    expect(report).not.toMatch(/complian|complies|lawful/i);
  });
});
