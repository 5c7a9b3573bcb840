// `npm run bench`: all parts, or those named: `npm run bench -- messages`. Nothing here is asserted: machines differ, so
// compare the ratios within one run.
import { mkdir, writeFile } from "node:fs/promises";
import { benchMessages } from "./messages.ts";

const PARTS: Readonly<Record<string, () => Promise<Record<string, unknown>[]>>> = {
  messages: benchMessages,
};

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !(name in PARTS));
if (unknown.length > 0) {
  console.error(`There is no benchmark ${unknown.join(", ")}; choose from ${Object.keys(PARTS).join(", ")}.`);
  process.exit(2);
}
await mkdir("dist/bench", { recursive: true });
for (const [name, run] of Object.entries(PARTS)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  const rows = await run();
  console.log(`\n${name}`);
  console.table(rows);
  await writeFile(`dist/bench/${name}.json`, `${JSON.stringify(rows, null, 2)}\n`);
}
