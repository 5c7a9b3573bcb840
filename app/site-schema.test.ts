import { expect, test } from "vitest";
import { z } from "zod";
import { site } from "./site.ts";
import { completeSettings, settingProblems, siteSchema } from "./site-schema.ts";

const FULL = {
  ...site,
  menu: [{ label: "About", href: "/about", smallScreenLabel: "About us" }],
  look: { ...site.look, displayFont: "display.woff2", mark: { viewBox: "0 0 1 1", ink: "M0 0", accent: "M1 1" } },
  heroPicture: { file: "hero.jpg", alt: "Hills." },
  pricePerTonne: { amount: 25, currency: "EUR", includes: "VAT" },
  answerWithin: { amount: 24, unit: "hours" },
  mailSignature: "The team\nof ours",
};

/** A number in the setting's name stands for an item of a list. */
function fullWith(setting: string, value: unknown): unknown {
  const copy = structuredClone(FULL);
  const names = setting.split(".");
  const last = names.pop() ?? "";
  let part: Record<string, unknown> = copy;
  for (const name of names) part = part[name] as Record<string, unknown>;
  part[last] = value;
  return copy;
}

interface Node {
  properties?: Record<string, Node>;
  items?: Node;
  anyOf?: Node[];
}

/** The name of each setting that contains no other settings. */
function leavesOf({ properties, items, anyOf = [] }: Node, name = ""): string[] {
  const [group] = anyOf.filter((one) => one.properties);
  if (group) return leavesOf(group, name);
  if (items) return leavesOf(items, `${name}.0`);
  if (!properties) return [name];
  return Object.entries(properties).flatMap(([key, node]) => leavesOf(node, name === "" ? key : `${name}.${key}`));
}

test.each([true, " ", "\n"])("no setting can be %j, and each message names the setting", (value) => {
  const leaves = leavesOf(z.toJSONSchema(siteSchema) as Node);
  expect(leaves.length).toBeGreaterThan(40);
  for (const setting of leaves) {
    const [problem = "", ...others] = settingProblems(fullWith(setting, value));
    expect([setting, problem.startsWith(`"site.${setting}" must be `), others]).toEqual([setting, true, []]);
  }
});

test.each<[setting: string, value: unknown, problem: string]>([
  ["legalName", "one line\nand another", "must be text on one line"],
  ["contactEmail", "hello@", "must be an email address"],
  ["referencePrefix", "acme", "must be two to four capital letters"],
  ["menu.0.href", "about", "must be a path or an address"],
  ["openAccount.href", "javascript:alert(1)", "must be a path or an address"],
  ["login.href", "//elsewhere.example", "must be a path or an address"],
  ["footerColumns.0.links.0.href", "a b", "must be a path or an address"],
  ["look.hue", 400, "must be a number of degrees"],
  ["look.accentHue", Number.NaN, "must be a number of degrees"],
  ["look.displayFont", "/etc/font.woff2", "must be the name of a file"],
  ["look.mark.viewBox", '"/><script>', "must be SVG data"],
  ["heroFilm", "none", 'must be "own", "off"'],
  ["social.0.network", "Myspace", "must be Facebook, "],
  ["pricePerTonne.amount", 0, "must be a number above 0"],
  ["answerWithin.amount", 1.5, "must be a whole number"],
  ["answerWithin.unit", "days", 'must be "hours" or "working days"'],
])("%s cannot be %j", (setting, value, problem) => {
  expect(settingProblems(fullWith(setting, value))).toEqual([expect.stringContaining(`"site.${setting}" ${problem}`)]);
});

test.each<[settings: object, ...problems: string[]]>([
  [{}],
  [FULL],
  [{ heroFilm: "https://media.example.org/film.mp4" }],
  [{ brand: undefined }, '"site.brand" must be text on one line.'],
  [
    { brnad: "x", look: { gloss: 1 } },
    '"site.look" has no setting "gloss"; it has hue, ',
    '"site" has no setting "brnad"; it has brand, ',
  ],
  [{ look: null, menu: "none" }, '"site.menu" must be a list.', '"site.look" must be an object.'],
  [
    { pricePerTonne: 25, answerWithin: "two days" },
    '"site.pricePerTonne" must be a price, such as { amount',
    '"site.answerWithin" must be a time, such as { amount',
  ],
])("the settings %j have these problems", (settings, ...problems) => {
  expect(settingProblems(completeSettings(settings, site))).toEqual(
    problems.map((one) => expect.stringContaining(one)),
  );
});
