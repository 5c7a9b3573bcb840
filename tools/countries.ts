// Renews prerender/countries.json from the package world-countries. Run it after updating that package.
import { writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import type { Country } from "world-countries";

const require = createRequire(import.meta.url);
const { version } = require("world-countries/package.json") as { version: string };
const { compare } = new Intl.Collator("en");
// Sorted, so that sorting in the visitor's language is quick on a phone.
const countries = (require("world-countries") as readonly Country[])
  .map(({ cca2, cca3, name }) => ({ cca2, cca3, name: name.common }))
  .toSorted((a, b) => compare(a.name, b.name));
const rows = countries.map((country) => `    ${JSON.stringify(country)}`);
await writeFile(
  new URL("../prerender/countries.json", import.meta.url),
  `{
  "source": "world-countries ${version}, https://github.com/mledoze/countries",
  "licence": "ODbL-1.0, https://opendatacommons.org/licenses/odbl/1-0/",
  "countries": [
${rows.join(",\n")}
  ]
}
`,
);
console.log(`prerender/countries.json: ${countries.length} countries`);
