// `npm run bench` runs all parts; `npm run bench -- pages server` runs the named ones. It asserts nothing, because
// machines differ: compare the ratios within one run. It prints tables, and writes them as JSON and charts to
// dist/bench. `npm run bench -- soak [MINUTES]` is different: it repeats every fault on two nodes, for 20 minutes by
// default. It prints how many messages were accepted, stored, mailed and posted, and fails if these differ.
import { spawnSync } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { benchInbox } from "./inbox.ts";
import { benchMessages } from "./messages.ts";
import { benchLighthouse, benchPages } from "./pages.ts";
import { type BenchTable, chartSvg } from "./report.ts";
import { benchServer } from "./server.ts";
import { benchSpam } from "./spam.ts";

const OUT = "dist/bench";
const { values, positionals: wanted } = parseArgs({
  options: { corpus: { type: "string", default: "node_modules/.cache/SMSSpamCollection" } },
  allowPositionals: true,
});
const PARTS: Readonly<Record<string, () => Promise<BenchTable[]>>> = {
  pages: benchPages,
  lighthouse: benchLighthouse,
  server: benchServer,
  messages: benchMessages,
  inbox: benchInbox,
  spam: () => benchSpam(values.corpus),
};

if (wanted[0] === "soak") {
  // It is a test, because only tests may import the code that breaks networks, mail servers and databases.
  const { status } = spawnSync("vitest", ["run", "--project", "full", "tests/full/soak.test.ts"], {
    stdio: "inherit",
    env: { ...process.env, SOAK_MINUTES: wanted[1] ?? "20" },
  });
  process.exit(status ?? 1);
}
const unknown = wanted.filter((name) => !(name in PARTS));
if (unknown.length > 0) {
  console.error(`There is no benchmark ${unknown.join(", ")}; choose from ${Object.keys(PARTS).join(", ")}.`);
  process.exit(2);
}
await mkdir(OUT, { recursive: true });
for (const [name, run] of Object.entries(PARTS)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  console.log(`\n== ${name} ==`);
  const tables = await run();
  for (const [index, table] of tables.entries()) {
    console.log(`\n${table.title}`);
    for (const note of table.notes ?? []) console.log(`  ${note}`);
    console.table(table.rows);
    if (table.chart) await writeFile(`${OUT}/${name}-${index + 1}.svg`, chartSvg(table));
  }
  await writeFile(`${OUT}/${name}.json`, `${JSON.stringify(tables, null, 2)}\n`);
}
