import { expect, test } from "vitest";
import { z } from "zod";
import { completeSettings } from "./settings.ts";
import { site } from "./site.ts";
import { settingProblems, siteSchema } from "./site-schema.ts";

const LONG = "one line\nand another";
const PRICE = { amount: 25, currency: "EUR" };
const LINK = { label: "About", href: "/about" };

/** For each setting a value of the right type that is wrong, and what the message says. A number stands for an item of a list. */
const WRONG: readonly [setting: string, value: unknown, problem: string][] = [
  ["brand", " ", "must be text on one line"],
  ["legalName", LONG, "must be text on one line"],
  ["contactEmail", "hello@", "must be an email address"],
  ["referencePrefix", "acme", "must be two to four capital letters"],
  ["footerTagline", "", "must be text on one line"],
  ["contactTagline", LONG, "must be text on one line"],
  ["menu.0.label", "", "must be text on one line"],
  ["menu.0.smallScreenLabel", "", "must be text on one line"],
  ["menu.0.href", "about", "must be a path or an address"],
  ["openAccount.label", "", "must be text on one line"],
  ["openAccount.href", "javascript:alert(1)", "must be a path or an address"],
  ["login.label", "", "must be text on one line"],
  ["login.href", "//elsewhere.example", "must be a path or an address"],
  ["startOffsetting.label", "", "must be text on one line"],
  ["startOffsetting.href", "", "must be a path or an address"],
  ["look.hue", 400, "must be a number of degrees"],
  ["look.accentHue", Number.NaN, "must be a number of degrees"],
  ["look.displayFont", "/etc/font.woff2", "must be the name of a file"],
  ["look.mark.viewBox", '"/><script>', "must be SVG data"],
  ["look.mark.ink", "", "must be SVG data"],
  ["look.mark.accent", "<", "must be SVG data"],
  ["hero.headline", "", "must be text on one line"],
  ["hero.subtitle", "", "must be text on one line"],
  ["hero.line", "", "must be text on one line"],
  ["hero.more", "", "must be text on one line"],
  ["hero.description", "", "must be text on one line"],
  ["heroFilm", "none", 'must be "own", "off"'],
  ["heroPicture.file", "", "must be the name of a file"],
  ["heroPicture.alt", "", "must be text on one line"],
  ["footerColumns.0.title", "", "must be text on one line"],
  ["footerColumns.0.links.0.label", "", "must be text on one line"],
  ["footerColumns.0.links.0.href", "a b", "must be a path or an address"],
  ["social.0.network", "Myspace", "must be Facebook, "],
  ["social.0.href", "facebook", "must be a path or an address"],
  ["pricePerTonne.amount", 0, "must be a number above 0"],
  ["pricePerTonne.currency", " ", "must be text on one line"],
  ["pricePerTonne.includes", "", "must be text on one line"],
  ["answerWithin.amount", 1.5, "must be a whole number"],
  ["answerWithin.unit", "days", 'must be "hours" or "working days"'],
  ["mailSignature", " ", "must be text, or null"],
  ["policyFacts.companyNumber", "", "must be text, or null"],
  ["policyFacts.registeredAddress", "", "must be text, or null"],
  ["policyFacts.lastUpdated", "", "must be text, or null"],
  ["policyFacts.refundsLastUpdated", "", "must be text, or null"],
  ["policyFacts.governingLaw", "", "must be text, or null"],
  ["policyFacts.arbitrationBody", "", "must be text, or null"],
  ["policyFacts.backupsKept", "", "must be text, or null"],
  ["policyFacts.requestLogKept", "", "must be text, or null"],
];

const FULL = {
  ...site,
  menu: [{ ...LINK, smallScreenLabel: "About us" }],
  look: { ...site.look, displayFont: "display.woff2", mark: { viewBox: "0 0 1 1", ink: "M0 0", accent: "M1 1" } },
  heroPicture: { file: "hero.jpg", alt: "Hills." },
  pricePerTonne: { ...PRICE, includes: "VAT" },
  answerWithin: { amount: 24, unit: "hours" },
  mailSignature: "The team\nof ours",
};

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

test("every setting has a wrong value in this test", () => {
  expect(WRONG.map(([setting]) => setting)).toEqual(leavesOf(z.toJSONSchema(siteSchema) as Node));
});

test.each(WRONG)("%s cannot be %j", (setting, value, problem) => {
  expect(settingProblems(fullWith(setting, value))).toEqual([expect.stringContaining(`"site.${setting}" ${problem}`)]);
});

test.each(WRONG.map(([setting]) => setting))("%s cannot be of another type", (setting) => {
  const [problem = "", ...others] = settingProblems(fullWith(setting, true));
  expect([problem.startsWith(`"site.${setting}" must be `), others]).toEqual([true, []]);
});

test.each<[settings: object, ...problems: string[]]>([
  [{}],
  [site],
  [FULL],
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
  [{ heroFilm: "https://media.example.org/film.mp4" }],
])("the settings %j have these problems", (settings, ...problems) => {
  expect(settingProblems(completeSettings(settings))).toEqual(problems.map((one) => expect.stringContaining(one)));
});
