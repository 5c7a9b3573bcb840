import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { ViteDevServer } from "vite";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RenderedSite } from "../../app/render.tsx";
import { makeScratchFolder } from "../../tests/support/scratch-folder.ts";
import { contextOf, openVite } from "../../tests/support/vite-server.ts";
import { loadRenderer, type Renderer } from "../load-renderer.ts";
import { readPageFiles } from "../page-files.ts";
import { writeSite } from "../write-site.ts";
import { listUnsigned, reportClaims } from "./claims.ts";
import { type Entry, lastDay, readLedger, writeLedger } from "./ledger.ts";
import { sentencesOfHtml } from "./sentences.ts";
import { strongWordsOf } from "./strong-words.ts";

const isStrong = (text: string) => strongWordsOf(text).length > 0;
const lawsOf = (text: string) => strongWordsOf(text).flatMap(({ law }) => /Annex I, (\w+)/.exec(law ?? "")?.[1] ?? []);
const ENTRIES = JSON.parse(readFileSync("prerender/claims/strong-words.json", "utf8")) as {
  words: string;
  with?: string;
  why: string;
}[];

test.each(ENTRIES)("found in every spelling: $words", ({ words, with: others, why }) => {
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

test.each([
  "Our company is carbon-neutral, and we could not be prouder.",
  "Neutralising your footprint",
  "Fly CO₂ zero",
  "We are CO²-neutral",
  "Our boxes are unrecyclable no more",
  "10 kg CO₂eq for each box",
  "Our lowest-emission product",
  "Made with love ♻️",
  "#netzero2030",
  "#GoGreenToday",
  "Our car\u200Bbon\u00ADneutral flights",
  "A grееn company, with two Cyrillic letters",
  "ＧＲＥＥＮ power",
  "Grëén power",
])("strong, whatever the spelling: %s", (text) => expect(isStrong(text)).toBe(true));

test.each([
  "We answer by email.",
  "Electricity (kWh)",
  "Economy class on the short flights",
  "The factors of emission are in a table.",
  "We are responsible for your information.",
  "This site is provided by [brand].",
])("not strong: %s", (text) => expect(isStrong(text)).toBe(false));

test.each([
  ["We are carbon neutral", "4c"],
  ["Cancel out your emissions", "4c"],
  ["A limited CO2 footprint", "4c"],
  ["Our eco-friendly boxes", "4a"],
  ["Nature’s friend", "4a"],
  ["Carbon friendly", "4a"],
  ["A bottle made from recycled plastic", "4b"],
  ["It has our own label", "2a"],
  ["We plant trees"],
])("“%s” names the law: %s", (text, ...laws) => expect([...new Set(lawsOf(text))]).toEqual(laws));

test("a page is read as a visitor reads it, in every element and attribute that shows a text", () => {
  const html = `<!doctype html><html><head><title>A title | Acme</title><meta name="description" content="One. Two.">
    <style>p::after{content:"From a \\"style\\"" / 'Spoken'}a{color:red}[title="x"]{content:none}</style></head>
    <body><p>CO<sub>2</sub> is <b>one</b>&nbsp;word.<br>Costs 1.5 kg, e.g. more.</p><img alt="A turbine">
    <ul><li>First<li>Sec&shy;ond</ul><table><tr><th>Head<td><a href="/">Cell</a></table><a>Left</a><a>Right</a>
    <p>About <span data-fact="grams">0.05</span> g.</p><p>About <i data-fact="total">about 2.8 t CO₂e a year</i></p>
    <p>We are <span data-fact="grams">carbon positive</span>, 100 %.</p><button aria-roledescription="A role">Press</button>
    <label>Green field</label><select><option>Eco</select><fieldset><legend>Planet</legend></fieldset>
    <input placeholder="Type" type="submit" value="Go"><select data-fact="countries"><option>Chad</select>
    <noscript><p>Without script.</p></noscript><script>no("text")</script><template>Hidden.</template></body></html>`;
  expect(sentencesOfHtml(html, [["brand", "Acme"]])).toEqual([
    "A title",
    "CO2 is one word",
    "Costs 1.5 kg, e.g. more",
    "First",
    "Second",
    "Head | Cell",
    "Left",
    "Right",
    "About # g",
    "About about # CO₂e a year",
    "We are carbon positive, 100 %",
    "Press",
    "Green field",
    "Eco",
    "Planet",
    "{countries}",
    "Without script",
    "Hidden",
    "One",
    "Two",
    'From a \\"style\\"',
    "Spoken",
    "A turbine",
    "A role",
    "Type",
    "Go",
  ]);
});

const CONTEXT = contextOf({});
const TODAY = "2026-11-20";

let server: ViteDevServer;
let renderer: Renderer;
let rendered: RenderedSite;
beforeAll(async () => {
  server = await openVite();
  renderer = await loadRenderer(server);
  rendered = await renderer.renderSite(CONTEXT);
});
afterAll(() => server.close());

/** The report for a page with this HTML, with an empty ledger of the company, or the one in its folder. */
async function report(html: string, changes: Partial<RenderedSite> = {}) {
  const siteDir = `${await makeScratchFolder()}/`;
  return reportClaims([{ ...rendered, siteDir, scriptTexts: "", ...changes, pages: [{ name: "/new", html }] }], TODAY);
}
const textsOf = (list: readonly { text: string }[]) => list.map(({ text }) => text);

test("our own sentences are signed: if this fails, run npm run claims -- review --ours", async () => {
  const { NODE_ENV, SITE_DIR, ...env } = process.env;
  const { stdout } = await promisify(execFile)(process.execPath, ["scripts/claims.ts", "--ours", "--json"], { env });
  const { unsigned, unreviewed } = JSON.parse(stdout) as Record<string, { text: string }[]>;
  expect({ unsigned, unreviewed }).toEqual({ unsigned: [], unreviewed: [] });
}, 60_000);

test("reads the mails, the form's own texts, the social card and the page for visitors who save data", async () => {
  const acknowledgement = { subject: "Subject", body: "News {reference}" } as const;
  const socialCard = { path: "/card.jpg", headline: "Card" };
  const [home] = rendered.pages.map((page) => ({ ...page, html: "", saveDataHtml: "<p>Saving</p>", socialCard }));
  const site = { ...rendered.site, acknowledgement };
  const words = { ...rendered, site, scriptTexts: "<p>Alert</p>", pages: home ? [home] : [] };
  const { sentences } = await reportClaims([words], TODAY);
  const texts = sentences.filter(({ where }) => where !== "settings");
  expect(texts.map(({ text, where }) => `${where}: ${text}`)).toEqual([
    "/: Saving",
    "/: Card",
    "contact form: Alert",
    "mails: Subject",
    "mails: News {reference}",
    "mails: Re: Your message ({reference})",
    "mails: On 1970-01-01, {name} wrote: >",
  ]);
});

test("a brand is decided once, also one with a strong word, and our sentences stay signed", async () => {
  const { legalName, brand } = rendered.site;
  const other = JSON.parse(
    JSON.stringify(rendered).replaceAll(legalName, "Green Harbour Ltd").replaceAll(brand, "Green Harbour"),
  ) as RenderedSite;
  const reportOf = (site: RenderedSite) =>
    reportClaims([{ ...site, pages: [...site.pages, site.comingSoon, site.failure] }], TODAY);
  const [before, after] = [await reportOf(rendered), await reportOf(other)];
  // Without those of our sentences that nobody has signed yet.
  const added = (kind: "unsigned" | "unreviewed") =>
    textsOf(after[kind]).filter((text) => !textsOf(before[kind]).includes(text));
  expect(added("unsigned")).toEqual(["[brand]: Green Harbour", "[legal name]: [brand] Ltd"]);
  expect(added("unreviewed")).toEqual(["[brand]: Green Harbour"]);
});

describe("the ledger", () => {
  const TEXT = "Our forests cover 500 hectares";
  const entry: Entry = { text: TEXT, verdict: "no claim", by: "A. Person", on: "2026-11-01" };
  const evidence = { shows: "the land register", at: "https://land.example/1", until: "2026-11-19" };
  const reportWith = async (...entries: Entry[]) => {
    const siteDir = `${await makeScratchFolder()}/`;
    await writeLedger(entries, `${siteDir}claims.json`);
    return report(`<p>${TEXT}.</p><p>Nothing special.</p>`, { siteDir });
  };

  test("asks about every new sentence, and again after a change", async () => {
    const { unsigned, unreviewed } = await reportWith();
    expect([textsOf(unsigned), textsOf(unreviewed)]).toEqual([[TEXT, "Nothing special"], [TEXT]]);
    const { by, on } = entry;
    // A signature for the page is no decision about a strong word.
    const signed = await reportWith({ text: TEXT, by, on }, { text: "Nothing special", by, on });
    expect([textsOf(signed.unsigned), textsOf(signed.unreviewed)]).toEqual([[], [TEXT]]);
    const changed = await reportWith({ ...entry, text: `${TEXT},` }, { text: "Nothing special", by, on });
    expect(textsOf(changed.unsigned)).toEqual([TEXT]);
  });

  test("asks for evidence, and again when it has expired; remembers forbidden wording", async () => {
    const claim: Entry = { ...entry, verdict: "claim", evidence };
    expect(textsOf((await reportWith(claim)).expired)).toEqual([TEXT]);
    const valid = { ...claim, evidence: { ...evidence, until: TODAY } };
    expect(textsOf((await reportWith(valid)).expired)).toEqual([]);
    const needs = "the land register";
    expect(textsOf((await reportWith({ ...entry, verdict: "claim", needs })).withoutEvidence)).toEqual([TEXT]);
    const siteDir = `${await makeScratchFolder()}/`;
    await writeLedger([{ ...entry, text: "We are carbon neutral", reason: "a quotation" }], `${siteDir}claims.json`);
    const { acceptedForbidden } = await report("<p>We are carbon neutral.</p>", { siteDir });
    expect(acceptedForbidden).toMatchObject([{ where: "/new", entry: { by: "A. Person", reason: "a quotation" } }]);
  });

  test("has one line for each sentence, sorted, and the newest entry for it", async () => {
    const file = join(await makeScratchFolder(), "claims.json");
    const newer = { ...entry, by: "B. Person" };
    await writeLedger([entry, { ...entry, text: "A" }, newer], file);
    const lines = (await readFile(file, "utf8")).split("\n");
    expect(lines).toEqual(["[", `${JSON.stringify({ ...entry, text: "A" })},`, JSON.stringify(newer), "]", ""]);
    expect(await readLedger(file, TODAY)).toEqual([{ ...entry, text: "A" }, newer]);
  });

  test("is refused with a list of all its problems and their places", async () => {
    const file = join(await makeScratchFolder(), "claims.json");
    const { text, ...claim } = { ...entry, verdict: "claim" };
    const late = { ...entry, evidence: { ...evidence, at: "shared drive", until: "2028-11-21" } };
    const forbidden = { ...entry, text: "We are carbon neutral" };
    await writeFile(file, JSON.stringify([claim, late, { ...entry, on: "2026-11-21" }, forbidden, { ...entry, x: 1 }]));
    await expect(readLedger(file, TODAY)).rejects.toThrow(
      /claims\.json is not valid:\n {2}entry 1: text: .*\n {2}entry 2: evidence: at: must be a URL.*\n {2}entry 2: evidence: until: must be 2028-11-20 at the latest\n {2}entry 3: on: is in the future\n {2}entry 4: the law forbids.*\n {2}entry 5: Unrecognized/,
    );
    await writeFile(file, "[\n{}\n{}");
    await expect(readLedger(file, TODAY)).rejects.toThrow(/claims\.json is not valid: .*line 3 column 1/);
  });

  const PLACES = ["https://land.example/1", "reports/audit.pdf", "audit.pdf", "ISO 14068-1:2023", "Audit, 3 May 2026"];
  test.each(PLACES)("evidence may be at %s", async (at) => {
    const file = join(await makeScratchFolder(), "claims.json");
    await writeLedger([{ ...entry, evidence: { ...evidence, at } }], file);
    expect(await readLedger(file, TODAY)).toHaveLength(1);
  });

  test("accepts evidence for two years, also on 29 February", () => {
    expect(["2026-11-20", "2028-02-29"].map(lastDay)).toEqual(["2028-11-20", "2030-02-28"]);
  });
});

test("an unsigned sentence stops the build before anything is written, and is named with its file and line", async () => {
  const folder = await makeScratchFolder();
  for (const name of ["assets", "media"]) await mkdir(join(folder, name));
  const changed: Renderer = {
    ...renderer,
    renderSite: async (context) => {
      const site = await renderer.renderSite(context);
      return { ...site, failure: { ...site.failure, saveDataHtml: "<p>Nobody wrote this.</p>" } };
    },
  };
  const pageFiles = await readPageFiles("app/pages");
  const options = { renderer: changed, context: CONTEXT, pageFiles, outDir: folder, rendererDir: folder };
  await expect(writeSite({ ...options, isDraft: false })).rejects.toThrow(
    /^Nobody has signed \d+ sentences?:\n(?: .*\n)* {2}error: Nobody wrote this\n(?: .*\n)*To read and sign: npm run claims -- review$/,
  );
  expect(await readdir(folder)).toEqual(["assets", "media"]);

  const file = join(folder, "about.mdx");
  await writeFile(file, "---\ntitle: About\n---\n\nWe **plant** [trees](/trees) at [brand].\n");
  const page = { name: "/about", file, html: "<p>We <b>plant</b> <a>trees</a> at Brighter Carbon.</p>" };
  const found = await reportClaims([{ ...rendered, pages: [page] }], TODAY);
  expect(await listUnsigned(found, "app/")).toContain(`${file}:5: We plant trees at [brand]`);
});
