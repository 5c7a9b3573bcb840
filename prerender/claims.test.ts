import { readFileSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { completeSettings } from "../app/settings.ts";
import type { SiteSettings } from "../app/site-schema.ts";
import { makeScratchFolder } from "../tests/support/scratch-folder.ts";
import { readClaims, readLedger, sentencesOf, strongWordsOf, writeLedger } from "./claims.ts";
import { readTexts } from "./texts.ts";

const isStrong = (text: string) => strongWordsOf(text).length > 0;
const lawsOf = (text: string) => strongWordsOf(text).flatMap(({ law }) => /Annex I, (\w+)/.exec(law ?? "")?.[1] ?? []);
const GROUPS = JSON.parse(readFileSync("prerender/strong-words.json", "utf8")) as {
  words: string;
  with?: string;
  why: string;
}[];

test.each(GROUPS)("found in every spelling: $words", ({ words, with: others, why }) => {
  expect(why).not.toBe("");
  const other = others?.split(", ").find((word) => /^\w+$/.test(word)) ?? "";
  for (const word of words.split(", ").map((one) => one.replaceAll("*", "").replaceAll("#", "2030"))) {
    for (const space of [" ", "-", ""]) {
      const spelled = word.replaceAll(" ", space);
      for (const text of [spelled, spelled.toUpperCase()])
        expect([text, isStrong(`We ${text} and ${other}.`)]).toEqual([text, true]);
    }
  }
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

test("a sentence is the same with other spaces, invisible characters and without its full stop", () => {
  const sentences = sentencesOf(" We\n plant\u00AD trees. It costs 1.5 kg, e.g. more. ");
  expect(sentences).toEqual(["We plant trees", "It costs 1.5 kg, e.g. more"]);
});

const TODAY = "2026-11-20";
const PAGE = "---\ntitle: About\ndescription: Who we are.\n---\n\nWe **plant** [trees](/trees).\n";
const ENTRY = { text: "We plant trees", page: "/about", by: "Ada", on: "2026-11-01" };
const EVIDENCE = { shows: "the land register", at: "https://land.example/1", until: "2027-11-01" };

async function report(files: Record<string, string>, own: Partial<SiteSettings> = {}, entries: object[] = []) {
  const siteDir = `${await makeScratchFolder()}/`;
  for (const folder of ["pages", "replies"]) await mkdir(join(siteDir, folder));
  const all = {
    "site.ts": `export const site = ${JSON.stringify(own)};`,
    "claims.json": JSON.stringify(entries),
    ...files,
  };
  for (const [name, text] of Object.entries(all)) await writeFile(join(siteDir, name), text);
  const { texts } = await readTexts(siteDir);
  const claims = await readClaims({ site: completeSettings(own), siteDir, texts, today: TODAY });
  const open = claims.claims.filter(({ isOurs, state }) => !isOurs && state !== "settled");
  return { ...claims, siteDir, open: open.map(({ state, page, text }) => `${state} ${page}: ${text}`) };
}

test("the texts of app/ are signed: if this fails, run npm run claims -- --ours --write and --ours --sign NAME", async () => {
  const { texts } = await readTexts("app/");
  const { claims, unsigned } = await readClaims({ site: completeSettings({}), siteDir: "app/", texts, today: TODAY });
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
    { footerTagline: "We plant trees", mailSignature: "Eco Ada" },
  );
  expect(open.toSorted()).toEqual([
    "open /about: Greener than others",
    "open /about: We plant trees",
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
  const changed = await report({ "pages/about.md": PAGE.replace("We", "They") }, {}, signed);
  expect(changed.unsigned).toMatchObject([
    { file: "pages/about.md", sentences: ["About", "Who we are", "They plant trees"] },
  ]);
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
  ["that claims nothing", { noClaim: "it is a name" }, ""],
  ["that claims nothing, without a reason", { noClaim: "" }, "withoutEvidence"],
])("a sentence %s", async (_, entry, state) => {
  expect(await stateOf("We plant trees", entry)).toEqual(state === "" ? [] : [`${state} /about: We plant trees`]);
});

test.each([
  ["We are carbon neutral", { evidence: EVIDENCE }, true],
  ["We are carbon neutral", { evidence: { ...EVIDENCE, until: "" } }, false],
  ["We are eco-friendly", { evidence: { ...EVIDENCE, until: "", exemption: "EU Ecolabel DE/020/042" } }, true],
  ["We are carbon neutral", { noClaim: "a quotation" }, false],
  ["Credits do not make you carbon neutral", { noClaim: "it denies it" }, true],
])("the law forbids “%s”; with %j it may be published: %s", async (text, entry, isAllowed) => {
  expect(await stateOf(text, entry)).toEqual(isAllowed ? [] : [`withoutEvidence /about: ${text}`]);
});

test("the ledger has one line for each entry, sorted, with the newest; a damaged one is refused with all problems", async () => {
  const file = join(await makeScratchFolder(), "claims.json");
  const { page: _, ...old } = { ...ENTRY, verdict: "claim", needs: "a register" };
  const signed = { file: "site.ts", sha256: "1", by: "Ada", on: TODAY };
  const newer = { ...ENTRY, noClaim: "a name" };
  await writeLedger([ENTRY, { ...ENTRY, page: "/" }, signed, newer, old], file);
  const sorted = [signed, old, { ...ENTRY, page: "/" }, newer];
  expect(await readFile(file, "utf8")).toBe(`[\n${sorted.map((entry) => JSON.stringify(entry)).join(",\n")}\n]\n`);

  await writeFile(file, JSON.stringify([{ ...ENTRY, on: "soon" }, { file: 1 }, { ...ENTRY, x: 1 }]));
  await expect(readLedger(file)).rejects.toThrow(
    /claims\.json is not valid:\n(?=.*at \[0\]\.on)(?=.*at \[1\]\.file).*Unrecognized key: "x"\n *→ at \[2\]/s,
  );
  await writeFile(file, "[\n{}\n{}");
  await expect(readLedger(file)).rejects.toThrow(/claims\.json is not valid:\n.*line 3 column 1/);
});
