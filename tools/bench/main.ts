// `npm run bench` runs all parts; `npm run bench -- pages server` runs the named ones, and `npm run bench -- pages /contact`
// only that page beside the hand-written one. It asserts nothing, because machines differ: compare the ratios within one run. `npm run bench -- soak [MINUTES] [TITLE]` is different: it repeats
// every fault on two nodes, and every attack of clocks and operators on each database, or only those whose title has
// these words, for 20 minutes each by default. It prints how many messages were accepted, stored, mailed and posted, and
// fails if one is lost, doubled or brought back. `npm run bench -- conversations [MINUTES]` does so with answers by mail.
import { spawnSync } from "node:child_process";
import { soakConversations } from "./conversations.ts";
import { benchInbox } from "./inbox.ts";
import { benchMessages } from "./messages.ts";
import { benchPages } from "./pages.ts";
import type { BenchTable } from "./report.ts";
import { benchServer } from "./server.ts";

const wanted = process.argv.slice(2).filter((name) => !name.startsWith("/"));
const PARTS: Readonly<Record<string, () => Promise<BenchTable[]>>> = {
  pages: () => benchPages(process.argv.slice(2).filter((name) => name.startsWith("/"))),
  server: benchServer,
  messages: benchMessages,
  inbox: benchInbox,
};

if (wanted[0] === "soak") {
  // It is a test, because only tests may import the code that breaks networks, mail servers and databases.
  const { status } = spawnSync("vitest", ["run", "--project", "full", "tests/full/soak", "-t", wanted[2] ?? ""], {
    stdio: "inherit",
    env: { ...process.env, SOAK_MINUTES: wanted[1] ?? "20" },
  });
  process.exit(status ?? 1);
}
if (wanted[0] === "conversations") {
  await soakConversations(Number(wanted[1] ?? 20));
  process.exit();
}
const unknown = wanted.filter((name) => !(name in PARTS));
if (unknown.length > 0) {
  console.error(
    `There is no benchmark ${unknown.join(", ")}; choose from ${Object.keys(PARTS).join(", ")}, soak, conversations.`,
  );
  process.exit(2);
}
for (const [name, run] of Object.entries(PARTS)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  console.log(`\n== ${name} ==`);
  for (const { title, notes = [], rows } of await run()) {
    console.log(`\n${[title, ...notes].join("\n  ")}`);
    console.table(rows);
  }
}
