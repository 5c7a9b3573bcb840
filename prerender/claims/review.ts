import { type Statement, statementText } from "./claims.ts";
import { isEnd, isPlace, lastDay, type Review } from "./ledger.ts";

interface Terminal {
  say(text: string): void;
  /** The next line; undefined at the end of the input. */
  nextLine(): Promise<string | undefined>;
  save(reviews: readonly Review[]): Promise<void>;
  today: string;
}

const HELP = `  n  no claim: the sentence explains, asks, or names what is sold
  c  claim: a reader could ask "is that so?"; you are asked for the evidence
  r  no claim, like the rest of this page
  s  skip it for now, b  back to the one before, w  another person reviews, q  quit: every answer is saved already`;
/** Input beyond these limits does not come from a person. */
const MAX = { attempts: 5, length: 1000 };

/** Asks about each sentence and saves the ledger after each answer. Rejects when the input ends or is unusable. */
export async function review(open: readonly Statement[], ledger: Review[], terminal: Terminal): Promise<void> {
  const { say, nextLine, save, today: on } = terminal;
  const askWho = () => ask("Who reviews (name or role): ", notEmpty);
  let by = ledger.at(-1)?.by ?? (await askWho());
  say(`${by} reviews. n: no claim, c: claim, h: help.`);
  for (let index = 0; index < open.length; index += 1) {
    const statement = open[index] as Statement;
    const before = ledger.find(({ text }) => text === statement.text) ?? statement.review;
    say(`\n${index + 1} of ${open.length}: ${statementText(statement)}`);
    if (before) say(`  Previous decision: ${before.verdict} (${before.by}, ${before.on}) ${before.needs ?? ""}`);
    for (const { law, better } of statement.words) if (law) say(`  ${law}.\n  Better: ${better}`);
    const answer = await ask("n, c, r, s, b, w, q or h: ", (text) => /^[ncrsbwqh]$/.exec(text.toLowerCase())?.[0]);
    if (answer === "q") return;
    if (answer === "h") say(HELP);
    if (answer === "w") by = await askWho();
    if (answer === "h" || answer === "w") index -= 1;
    if (answer === "b") index = Math.max(index - 2, -1);
    if (answer === "c") await decide(statement, { verdict: "claim", ...(await askEvidence()) });
    if (answer === "n" || answer === "r") await decide(statement, { verdict: "no claim" });
    while (answer === "r" && open[index + 1]?.pages[0] === statement.pages[0]) {
      index += 1;
      if (!open[index]?.review) await decide(open[index] as Statement, { verdict: "no claim" });
    }
  }

  async function decide({ text, words }: Statement, decision: Omit<Review, "text" | "by" | "on">): Promise<void> {
    const why = `  ${text}\nThe law forbids this wording in any context. Why may it stay: `;
    const reason = words.some(({ law }) => law) && { reason: await ask(why, notEmpty) };
    const others = ledger.filter((entry) => entry.text !== text);
    ledger.splice(0, ledger.length, ...others, { text, ...decision, ...reason, by, on });
    await save(ledger);
  }

  async function askEvidence(): Promise<Pick<Review, "evidence" | "needs">> {
    const known = new Map(ledger.map(({ evidence }) => [JSON.stringify(evidence), evidence]));
    const list = [...known.values()].filter((evidence) => evidence !== undefined);
    for (const [index, { shows, until }] of list.entries()) say(`  ${index + 1}  ${shows} (until ${until})`);
    const shows = await ask(
      "What proves it (text, a number from the list above, or empty for nothing yet): ",
      (text) => text,
    );
    const evidence = list[Number(shows) - 1];
    if (evidence) return { evidence };
    if (shows === "") return { needs: await ask("What would prove it: ", notEmpty) };
    const place = "Where is the proof (a URL, a file, or a document's name with its date): ";
    const at = await ask(place, (text) => (isPlace(text) ? text : undefined));
    const end = `Until which day is the proof valid (such as 2026-01-31, ${lastDay(on)} at the latest): `;
    return { evidence: { shows, at, until: await ask(end, (text) => (isEnd(text, on) ? text : undefined)) } };
  }

  /** Repeats the question until the answer is valid. */
  async function ask(question: string, read: (text: string) => string | undefined): Promise<string> {
    for (let attempt = 0; attempt < MAX.attempts; attempt += 1) {
      say(question);
      const line = await nextLine();
      if (line === undefined) break;
      const answer = line.length > MAX.length ? undefined : read(line.trim());
      if (answer !== undefined) return answer;
    }
    throw new Error("The review ended before this question was answered. All earlier answers are saved.");
  }
}

const notEmpty = (text: string) => text || undefined;
