import { styleText } from "node:util";
import { type Evidence, problemsOfEvidence, type Review, twoYearsAfter } from "./ledger.ts";
import { type ClaimsReport, placeText, type Statement } from "./site-claims.ts";

interface Reviewer {
  say(text: string): void;
  /** The answer, without spaces around it. */
  ask(question: string): Promise<string>;
  save(reviews: readonly Review[]): Promise<void>;
  /** A day, as in 2026-01-31. */
  today: string;
  isTerminal: boolean;
}

/** Goes through what is open, one sentence after the other, and saves the ledger after each answer. */
export async function review(report: ClaimsReport, ledger: Review[], reviewer: Reviewer): Promise<void> {
  const { say, ask, save, today: on } = reviewer;
  const open = [...report.unreviewed, ...report.expired, ...report.withoutEvidence];
  if (open.length + report.lost.length === 0) return say("Everything is reviewed.");
  let by = "";
  while (by === "") by = await ask("Your name: ");

  for (const [index, statement] of open.entries()) {
    const { text, pages } = statement;
    say(`\n${index + 1} of ${open.length}: ${placeText(statement)}\n  ${marked(statement, reviewer.isTerminal)}`);
    const answer = await askOne("n (no claim), c (claim), s (skip): ", "ncs");
    if (answer === "s") continue;
    const where = whereText(pages);
    const decided: Review =
      answer === "n"
        ? { text, where, verdict: "no claim", by, on }
        : { text, where, verdict: "claim", evidence: await askEvidence(), by, on };
    const known = ledger.findIndex((entry) => entry.text === text);
    if (known >= 0) ledger[known] = decided;
    else ledger.push(decided);
    await save(ledger);
  }
  for (const entry of report.lost) {
    say(`\nNo longer there: ${entry.where}\n  ${entry.text}`);
    if ((await askOne("d (delete its review), s (skip): ", "ds")) === "s") continue;
    ledger.splice(ledger.indexOf(entry), 1);
    await save(ledger);
  }

  async function askOne(question: string, letters: string): Promise<string> {
    const answer = await ask(question);
    return answer.length === 1 && letters.includes(answer) ? answer : askOne(question, letters);
  }

  async function askEvidence(): Promise<Evidence | null> {
    const shows = await ask("What shows it (empty: nothing yet): ");
    if (shows === "") return null;
    const at = await ask("Where can it be seen: ");
    const until = await ask(`Until which day (at most ${twoYearsAfter(on)}): `);
    const problems = problemsOfEvidence({ shows, at, until }, on);
    if (problems.length === 0) return { shows, at, until };
    say(problems.join("; "));
    return askEvidence();
  }
}

/** The sentence with the words that made it subject to review marked. */
export function marked({ text, words }: Pick<Statement, "text" | "words">, isTerminal: boolean): string {
  let end = 0;
  const parts = words.map((word) => {
    const before = text.slice(end, word.start);
    end = word.end;
    const found = text.slice(word.start, word.end);
    return before + (isTerminal ? styleText(["bold", "underline"], found) : `[${found}]`);
  });
  return parts.join("") + text.slice(end);
}

export function whereText(pages: readonly string[]): string {
  return pages.length > 3 ? `${pages[0]} and ${pages.length - 1} more` : pages.join(", ");
}
