// `npm run claims`: the ledger of what the site says about the environment. Renders the pages without building them.
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import { createServer, isRunnableDevEnvironment } from "vite";
import type { RenderedSite } from "../app/render.tsx";
import { parseBuildSettings } from "../contract/build-settings.ts";
import { ledgerFile, readLedger, writeLedger } from "../prerender/claims/ledger.ts";
import { marked, review, whereText } from "../prerender/claims/review.ts";
import {
  type ClaimsReport,
  forbiddenText,
  placeText,
  reportClaims,
  type Statement,
} from "../prerender/claims/site-claims.ts";

const USAGE = `npm run claims               what is new since the last review, and what has ended
npm run claims -- review     go through it: n (no claim), c (claim), s (skip); each answer is saved at once
npm run claims -- --json     for a program`;

const { values, positionals } = parseArgs({ options: { json: { type: "boolean" } }, allowPositionals: true });
if (positionals.length > 1 || (positionals[0] ?? "review") !== "review") {
  console.error(USAGE);
  process.exit(2);
}

const { settings } = parseBuildSettings(process.env);
const ledger = ledgerFile(settings.siteDir);
const reviews = await readLedger(ledger);
const report = reportClaims(await renderSite(), reviews, new Date());
if (values.json) {
  const { forbidden, unreviewed, expired, withoutEvidence } = report;
  const lists = { forbidden, unreviewed, expired, withoutEvidence };
  const items = Object.entries(lists).map(([name, statements]) => [name, statements.map(itemOf)]);
  console.log(JSON.stringify(Object.fromEntries(items), null, 1));
} else if (positionals[0] === "review") {
  // Not rl.question: it drops lines that arrive between two questions, as they do from a pipe.
  const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
  await review(report, reviews, {
    say: console.log,
    async ask(question) {
      process.stdout.write(question);
      const { value, done } = await lines.next();
      // Every answer was saved.
      return done ? process.exit() : value.trim();
    },
    save: (reviewed) => writeLedger(reviewed, ledger),
    today: new Date().toISOString().slice(0, 10),
    isTerminal: process.stdout.isTTY,
  });
  process.stdin.destroy();
} else print(report);
if (report.forbidden.length > 0) process.exitCode = 1;

async function renderSite(): Promise<RenderedSite> {
  const server = await createServer({ logLevel: "warn", server: { middlewareMode: true, ws: false, watch: null } });
  try {
    const { ssr } = server.environments;
    if (!isRunnableDevEnvironment(ssr)) throw new Error("Vite's ssr environment cannot run modules.");
    const renderer = await ssr.runner.import<typeof import("../app/render.tsx")>("/app/render.tsx");
    return await renderer.renderSite({
      settings,
      scripts: { film: { code: "" }, contact: { url: "" } },
      electricityUrl: "/electricity.json",
      isSavingData: false,
    });
  } finally {
    await server.close();
  }
}

/** What a program gets of a statement. */
function itemOf({ text, page, pages, file, line, forbidden }: Statement) {
  return {
    text,
    page,
    where: whereText(pages),
    file,
    line,
    ...(forbidden && { wording: forbidden.name, law: forbidden.law }),
  };
}

function print(claims: ClaimsReport): void {
  const { statements, forbidden, unreviewed, expired, withoutEvidence, lost } = claims;
  if (forbidden.length > 0) console.log(`${forbiddenText(claims)}\n`);
  for (const [title, list] of Object.entries({
    "Not reviewed": unreviewed,
    "The evidence has ended": expired,
    "Without evidence": withoutEvidence,
  }))
    for (const statement of list)
      console.log(`${title}: ${placeText(statement)}\n  ${marked(statement, process.stdout.isTTY)}\n`);
  for (const { text, where } of lost) console.log(`Reviewed, but no longer there: ${where}\n  ${text}\n`);
  console.log(
    `${statements.length} sentences about the environment: ${forbidden.length} forbidden, ${unreviewed.length} not reviewed, ` +
      `${expired.length} with evidence that has ended, ${withoutEvidence.length} without evidence.`,
  );
}
