// `npm run claims`: lists and reviews the site's environmental claims. Renders the pages without building them.
import { parseArgs } from "node:util";
import { createServer } from "vite";
import { parseBuildSettings } from "../contract/build-settings.ts";
import { claimsToDo, reportClaims, statementText } from "../prerender/claims/claims.ts";
import { OUR_LEDGER, readLedger, writeLedger } from "../prerender/claims/ledger.ts";
import { review } from "../prerender/claims/review.ts";
import { loadRenderer } from "../prerender/load-renderer.ts";

const USAGE = `npm run claims                        lists sentences without review, evidence or valid evidence
npm run claims -- review              reviews them and saves each answer
npm run claims -- review --all        reviews every sentence again
npm run claims -- review "net zero"   reviews the sentences that contain this text
npm run claims -- review --ours       saves to the ledger that ships with the software
npm run claims -- --json              prints JSON`;

const options = { json: { type: "boolean" }, all: { type: "boolean" }, ours: { type: "boolean" } } as const;
const { values, positionals } = parseArgs({ options, allowPositionals: true });
const [command = "", words = ""] = positionals;
if (positionals.length > 2 || !["", "review"].includes(command)) {
  console.error(USAGE);
  process.exit(2);
}
const { settings } = parseBuildSettings(process.env);
const server = { middlewareMode: true, ws: false, watch: null } as const;
const vite = await createServer({ logLevel: "warn", server, optimizeDeps: { noDiscovery: true } });
const { renderSite } = await loadRenderer(vite);
const scripts = { film: { code: "" }, contact: { url: "" } };
const rendered = await renderSite({ settings, scripts, electricityUrl: "", isSavingData: false });
await vite.close();
const { pages, comingSoon, failure } = rendered;
const report = await reportClaims({ ...rendered, pages: [...pages, comingSoon, failure] }, new Date());
const { statements, unreviewed, expired, withoutEvidence, lost } = report;
if (values.json) {
  console.log(JSON.stringify(report, ["unreviewed", "expired", "withoutEvidence", "text", "where"], 1));
} else if (command === "review") {
  const file = values.ours ? OUR_LEDGER : `${settings.siteDir}claims.json`;
  const due = words || values.all ? statements : [...unreviewed, ...expired, ...withoutEvidence];
  const open = due.filter(({ text }) => text.toLowerCase().includes(words.toLowerCase()));
  // Not readline, which buffers unread input in memory without a limit.
  const lines = process.stdin.setEncoding("utf8").flatMap((chunk: string) => chunk.replace(/\n$/, "").split("\n"));
  const input = lines[Symbol.asyncIterator]();
  await review(open, await readLedger(file), {
    say: (text) => process.stdout.write(text.endsWith(": ") ? text : `${text}\n`),
    nextLine: async () => (await input.next()).value,
    save: (reviews) => writeLedger(reviews, file),
    today: new Date().toISOString().slice(0, 10),
  }).catch(({ message }: Error) => console.error(`\n${message}`));
  process.stdin.destroy();
} else {
  const waiting = [...expired, ...withoutEvidence];
  for (const one of waiting) console.log(`${statementText(one)}\n  needs ${one.review?.needs ?? "newer evidence"}\n`);
  for (const line of claimsToDo(report)) console.log(line);
  for (const { text } of lost) console.log(`In the ledger, but no longer on the site: ${text}`);
  console.log(`${statements.length} sentences with a strong word, ${unreviewed.length} of them not reviewed.`);
}
