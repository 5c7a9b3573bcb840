import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { SiteSettings } from "../app/site-schema.ts";
import { makeScratchFolder } from "../tests/support/scratch-folder.ts";
import { readClaims, readLedger, sentencesOf, strongWordsOf, writeLedger } from "./claims.ts";
import { readSettings } from "./site-dir.ts";
import { STRONG_WORDS } from "./strong-words.ts";
import { readTexts } from "./texts.ts";

const isStrong = (text: string) => strongWordsOf(text).length > 0;
const lawsOf = (text: string) => strongWordsOf(text).flatMap(({ law }) => /Annex I, (\w+)/.exec(law ?? "")?.[1] ?? []);
/** One of each row of the table, in its order. */
const EXAMPLES = [
  ...["neutral", "carbon neutral", "cancel out your flights", "net zero", "zero waste", "leaves no trace"],
  ...["carbon free", "low carbon", "compensated", "offsetting", "decarbonise", "good for the planet"],
  ...["eco label", "greener", "unsustainable", "costs the world", "environmental", "climate", "renewables"],
  ...["cleaner", "fully solar", "powered by wind", "wind farm", "without coal", "fuel saving", "refillable"],
  ...["made from recycled wool", "compostable", "plastic free", "less waste", "48,000 tonnes", "ten trees a month"],
  ...["plant based", "non toxic", "closed loop", "guilt", "responsible travel", "long lasting"],
  ...["pledged zero", "electric cars save", "carbon sink", "rainforest", "biodiversity", "certified"],
  ...["third party proof", "high integrity", "rated AAA", "our seal", "badges", "gold standard", "1.5 degrees"],
  ...["better future", "🌱"],
];

test("each row of the table finds its example in every spelling", () => {
  for (const [index, row] of STRONG_WORDS.entries()) {
    const example = EXAMPLES[index] ?? "";
    const others = row.with ? [" "] : [" ", "-", ""];
    for (const spelled of others.map((space) => example.replaceAll(" ", space))) {
      for (const text of [spelled, spelled.toUpperCase()])
        expect([text, strongWordsOf(`We ${text}.`).map(({ why }) => why)]).toEqual([
          text,
          expect.arrayContaining([row.why]),
        ]);
    }
  }
  expect(EXAMPLES).toHaveLength(STRONG_WORDS.length);
});

test("a strong word is found in any spelling, and no other word is strong", () => {
  const strong = [
    "Fly CO₂ zero",
    "We are CO²-neutral",
    "Made with love ♻️",
    "#GoGreenToday",
    "ＧＲＥＥＮ power",
    "Grëén power",
  ];
  strong.push("All its electricity comes from wind farms in Bavaria", "Our car\u200Bbon\u00ADneutral flights");
  expect(strong.filter((text) => !isStrong(text))).toEqual([]);
  const others = ["Electricity (kWh)", "Economy class on the short flights", "The factors of emission are in a table."];
  others.push("We are responsible for your information.", "This site is provided by {brand}.");
  expect(others.filter(isStrong)).toEqual([]);
});

test.each([
  ["Cancel out your emissions", "4c"],
  ["Nature’s friend", "4a"],
  ["A bottle made from recycled plastic", "4b"],
  ["It has our own label", "2a"],
  ["We plant trees"],
])("“%s” names the law: %s", (text, ...laws) => expect([...new Set(lawsOf(text))]).toEqual(laws));

test("the same sentence is recognised with other spaces, invisible characters and without its full stop", () => {
  const sentences = sentencesOf(" We\n plant\u00AD trees. It costs 1.5 kg, e.g. more. ");
  expect(sentences).toEqual(["We plant trees", "It costs 1.5 kg, e.g. more"]);
});

const TODAY = "2026-11-20";
const PAGE = "---\ntitle: About\ndescription: Who we are.\n---\n\nWe **plant** [trees](/trees).\n";
const ENTRY = { text: "We plant trees", page: "/about", by: "Ada", on: "2026-11-01" };
const EVIDENCE = { shows: "the land register", at: "https://land.example/1", until: "2027-11-01" };

async function report(files: Record<string, string>, own: Partial<SiteSettings> = {}, entries: object[] = []) {
  const siteDir = `${await makeScratchFolder()}/`;
  for (const folder of ["pages", "policies", "replies"]) await mkdir(join(siteDir, folder));
  const all = {
    "site.ts": `export const site = ${JSON.stringify(own)};`,
    "claims.json": JSON.stringify(entries),
    ...files,
  };
  for (const [name, text] of Object.entries(all)) await writeFile(join(siteDir, name), text);
  const { texts } = await readTexts(siteDir);
  const claims = await readClaims({ ...(await readSettings(siteDir)), siteDir, texts, today: TODAY });
  const open = claims.claims.filter(({ isOurs, state }) => !isOurs && state !== "settled");
  return { ...claims, siteDir, open: open.map(({ state, page, text }) => `${state} ${page}: ${text}`) };
}

test("the texts of app/ are signed: if this fails, run npm run claims -- --ours --write and --ours --sign NAME", async () => {
  const { texts } = await readTexts("app/");
  const { claims, unsigned } = await readClaims({
    ...(await readSettings("app/")),
    siteDir: "app/",
    texts,
    today: TODAY,
  });
  expect(unsigned.map(({ file }) => file)).toEqual([]);
  expect(claims.filter(({ isOurs }) => !isOurs)).toEqual([]);
  expect((await readLedger("prerender/claims.json")).length).toBeLessThanOrEqual(70);
});

test("reads settings, pages, replies and the acknowledgement, and asks for each page", async () => {
  const { open, unsigned, claims } = await report(
    {
      "pages/about.md": PAGE.replace("Who we are", "Greener than others"),
      "replies/offer.md": "Dear {name},\n\nwe plant trees.",
      "replies/acknowledgement.md": '---\nsubject: "{reference}: Green thanks"\n---\n\n{reference}',
    },
    {
      footerTagline: "We plant trees",
      mailSignature: "Eco Ada",
      pricePerTonne: { amount: 25, currency: "green euros" },
    },
  );
  expect(open.toSorted()).toEqual([
    "open /about: Greener than others",
    "open /about: We plant trees",
    "open /contact: green euros",
    "open acknowledgement: {reference}: Green thanks",
    "open every page: We plant trees",
    "open replies/offer.md: we plant trees",
    "open replies: Eco Ada",
  ]);
  expect(unsigned.map(({ file }) => file)).toEqual([
    "site.ts",
    "pages/about.md",
    "replies/acknowledgement.md",
    "replies/offer.md",
  ]);
  expect(claims.find(({ page, text }) => page === "/about" && text === ENTRY.text)?.where).toMatch(/about\.md:6$/);
});

test("a file that changed since it was signed is unsigned again", async () => {
  const { unsigned } = await report({ "pages/about.md": PAGE });
  const signed = unsigned.map(({ file, sha256 }) => ({ file, sha256, by: "Ada", on: TODAY }));
  expect((await report({ "pages/about.md": PAGE }, {}, signed)).unsigned).toEqual([]);
  const early = await report(
    { "pages/about.md": PAGE },
    {},
    signed.map((entry) => ({ ...entry, on: "2027-01-01" })),
  );
  expect(early.unsigned[1]?.problem).toBe("it was signed on 2027-01-01, which is in the future");
  const changed = await report({ "pages/about.md": PAGE.replace("We", "They") }, {}, signed);
  expect(changed.unsigned).toMatchObject([
    { file: "pages/about.md", sentences: ["About", "Who we are", "They plant trees"] },
  ]);
});

test("a company's policy is signed; what it misses of ours, and a later change of ours, is listed", async () => {
  const policy =
    "---\ntitle: Privacy\ndescription: Ours.\n---\n\n## Data\n\n{deliveredKept} {failedKept} {quarantinedKept}\n";
  const files = { "policies/privacy.md": policy };
  const { unsigned, policies } = await report(files);
  expect(unsigned).toMatchObject([
    { file: "site.ts" },
    { file: "policies/privacy.md", ours: expect.stringMatching(/^[0-9a-f]{64}$/) },
  ]);
  expect(policies).toEqual(["policies/privacy.md does not say {backupsKept}, {requestLogKept}"]);
  const signed = unsigned.map(({ file, sha256, ours }) => ({ file, sha256, ours, by: "Ada", on: TODAY }));
  const known = await report({ "policies/privacy.md": policy }, {}, signed);
  expect([known.unsigned, known.outdated]).toEqual([[], []]);
  const older = await report(
    files,
    {},
    signed.map((entry) => ({ ...entry, ...(entry.ours && { ours: "1" }) })),
  );
  expect([older.unsigned, older.outdated.map(({ file }) => file)]).toEqual([[], ["policies/privacy.md"]]);
  expect(older.policies[1]).toMatch(/^app\/policies\/privacy\.md has changed since policies\/privacy\.md was signed/);
});

const stateOf = async (text: string, entry: object) =>
  (
    await report({ "pages/about.md": PAGE.replace(/We \*\*.*/, text), "audit.pdf": "" }, {}, [
      { ...ENTRY, text, ...entry },
    ])
  ).open;

test.each([
  ["without an entry for this page", { page: "/other" }, "open"],
  ["with empty fields", { evidence: { shows: "", at: "", until: "" }, by: "", on: "" }, "withoutEvidence"],
  ["with evidence", { evidence: EVIDENCE }, ""],
  ["with evidence that nobody has signed", { evidence: EVIDENCE, by: "" }, "withoutEvidence"],
  ["with evidence that has ended", { evidence: { ...EVIDENCE, until: "2026-11-19" } }, "expired"],
  ["with evidence without an end", { evidence: { ...EVIDENCE, until: "" } }, "withoutEvidence"],
  ["with a file as evidence", { evidence: { ...EVIDENCE, at: "audit.pdf" } }, ""],
  ["with a file that does not exist", { evidence: { ...EVIDENCE, at: "reports/audit.pdf" } }, "withoutEvidence"],
  ["with the name of a document", { evidence: { ...EVIDENCE, at: "ISO 14068-1:2023" } }, ""],
  ["signed in the future", { evidence: EVIDENCE, on: "2026-11-21" }, "withoutEvidence"],
  ["signed by nobody's name", { evidence: EVIDENCE, by: "YOUR NAME" }, "withoutEvidence"],
  ["with evidence for three years, in its second", { evidence: { ...EVIDENCE, until: "2029-11-01" } }, ""],
  [
    "with evidence for three years, in its third",
    { evidence: { ...EVIDENCE, until: "2027-11-01" }, on: "2024-11-01" },
    "expired",
  ],
  ["with a file whose name has a space", { evidence: { ...EVIDENCE, at: "our audit.pdf" } }, "withoutEvidence"],
  ["that claims nothing", { noClaim: "it is a name" }, ""],
  ["that claims nothing, without a reason", { noClaim: "" }, "withoutEvidence"],
])("a sentence %s", async (_, entry, state) => {
  expect(await stateOf("We plant trees", entry)).toEqual(state === "" ? [] : [`${state} /about: We plant trees`]);
});

test.each([
  ["We are carbon neutral", { evidence: EVIDENCE, law: "Directive 2005/29/EC, Annex I, 4c" }, true],
  ["We are carbon neutral", { evidence: EVIDENCE, law: "Directive 2005/29/EC, Annex I, 4a" }, false],
  ["We are carbon neutral", { evidence: EVIDENCE }, false],
  ["We are carbon neutral", { evidence: { ...EVIDENCE, until: "" } }, false],
  ["We are eco-friendly", { evidence: { ...EVIDENCE, until: "", exemption: "EU Ecolabel DE/020/042" } }, true],
  ["We are carbon neutral", { noClaim: "a quotation" }, false],
  ["Credits do not make you carbon neutral", { noClaim: "it denies it" }, true],
])("the law forbids “%s”; with %j it may be published: %s", async (text, entry, isAllowed) => {
  expect(await stateOf(text, entry)).toEqual(isAllowed ? [] : [`withoutEvidence /about: ${text}`]);
});

test("the ledger has one line for each entry, sorted, with the newest; a damaged one is refused with all problems", async () => {
  const file = join(await makeScratchFolder(), "claims.json");
  const signed = { file: "site.ts", sha256: "1", by: "Ada", on: TODAY };
  const newer = { ...ENTRY, noClaim: "a name" };
  await writeLedger([ENTRY, { ...ENTRY, page: "/" }, signed, newer], file);
  const sorted = [signed, { ...ENTRY, page: "/" }, newer];
  expect(await readFile(file, "utf8")).toBe(`[\n${sorted.map((entry) => JSON.stringify(entry)).join(",\n")}\n]\n`);

  await writeFile(file, JSON.stringify([{ ...ENTRY, on: "soon" }, { file: 1 }, { ...ENTRY, x: 1 }]));
  await expect(readLedger(file)).rejects.toThrow(
    /claims\.json is not valid:\n(?=.*at \[0\]\.on)(?=.*at \[1\]\.file).*Unrecognized key: "x"\n *→ at \[2\]/s,
  );
  await writeFile(file, "[\n{}\n{}");
  await expect(readLedger(file)).rejects.toThrow(/claims\.json is not valid:\n.*line 3 column 1/);
});
