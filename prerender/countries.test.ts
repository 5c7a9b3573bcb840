import { createRequire } from "node:module";
import { expect, test } from "vitest";
import type { Country } from "world-countries";
import list from "./countries.json" with { type: "json" };

const require = createRequire(import.meta.url);

test("the country list equals the package's list; renew it with: node tools/countries.ts", () => {
  const { compare } = new Intl.Collator("en");
  const source = (require("world-countries") as readonly Country[])
    .map(({ cca2, cca3, name }) => ({ cca2, cca3, name: name.common }))
    .toSorted((a, b) => compare(a.name, b.name));
  expect(list.countries).toEqual(source);
  expect(list.source).toContain(`world-countries ${require("world-countries/package.json").version},`);
});
