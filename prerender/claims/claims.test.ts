import { readFileSync } from "node:fs";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ViteDevServer } from "vite";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RenderedSite } from "../../app/render.tsx";
import { makeScratchFolder } from "../../tests/support/scratch-folder.ts";
import { contextOf, openVite } from "../../tests/support/vite-server.ts";
import { loadRenderer, type Renderer } from "../load-renderer.ts";
import { readPageFiles } from "../page-files.ts";
import { writeSite } from "../write-site.ts";
import { claimsState, claimsToDo, reportClaims } from "./claims.ts";
import { isPlace, OUR_LEDGER, type Review, readLedger, writeLedger } from "./ledger.ts";
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
  for (const word of words.split(", ").map((one) => one.replaceAll("*", ""))) {
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
  "Neutralizing your footprint",
  "Fly CO₂ zero",
  "We are CO²-neutral",
  "We offset what we emit",
  "A labelled product",
  "A labeled product",
  "Our boxes are unrecyclable no more",
  "10 kg CO₂eq for each box",
  "Our lowest-emission product",
  "Runs on 100 % wind energy",
  "Made with love ♻️",
  "Our 🌍 says thank you",
])("strong: %s", (text) => expect(isStrong(text)).toBe(true));

test.each([
  "We answer by email.",
  "Electricity (kWh)",
  "km",
  "Economy class on the short flights",
  "The factors of emission are in a table.",
  "Ask hello@northwind-climate.com or visit northwind-climate.com and https://green.example",
  "This site is provided by Brighter Carbon.",
])("not strong: %s", (text) => expect(isStrong(text)).toBe(false));

test.each([
  ["We are carbon neutral", "4c"],
  ["Our eco-friendly boxes", "4a"],
  ["A bottle made from recycled plastic", "4b"],
  ["It has our own label", "2a"],
  ["We plant trees"],
])("“%s” names the law: %s", (text, ...laws) => expect(lawsOf(text)).toEqual(laws));

test("a page is read as a visitor reads it, without the names of fields", () => {
  const html = `<!doctype html><html><head><title>A title</title><meta name="description" content="One. Two."><style>p{}</style></head>
    <body><p>CO<sub>2</sub> is <b>one</b>&nbsp;word.<br>Costs 1.5 kg, e.g. more.</p><img alt="A turbine">
    <ul><li>First<li>Sec&shy;ond</ul><table><th>Head<td><a href="/">Cell</a></table>
    <p>About <span data-fact="grams">0.05</span> g.</p><p>About <i data-fact="total">about 2.8 t CO₂e a year</i></p>
    <p>We are <span data-fact="grams">carbon positive</span>.</p><button>Press</button>
    <label>Green field</label><select><option>Eco</select><fieldset><legend>Planet</legend></fieldset>
    <noscript><p>Without script.</p></noscript><script>no("text")</script><template>Hidden.</template></body></html>`;
  expect(sentencesOfHtml(html).filter((text) => text !== "")).toEqual([
    "A title",
    "CO2 is one word",
    "Costs 1.5 kg, e.g. more",
    "First",
    "Second",
    "Head",
    "Cell",
    "About {grams} g",
    "About {total}",
    "We are carbon positive",
    "Press",
    "Without script",
    "One",
    "Two",
    "A turbine",
  ]);
});

const CONTEXT = contextOf({});
const NOW = new Date("2026-11-20T12:00:00Z");

let server: ViteDevServer;
let renderer: Renderer;
let rendered: RenderedSite;
beforeAll(async () => {
  server = await openVite();
  renderer = await loadRenderer(server);
  rendered = await renderer.renderSite(CONTEXT);
});
afterAll(() => server.close());

/** The report for the site with an additional piece of HTML on its home page, and with other settings. */
function report(html = "", changes: Partial<RenderedSite> = {}) {
  const { pages, comingSoon, failure } = rendered;
  const [home, ...others] = pages.map((page) => ({ ...page, html: page.html.replace("</main>", `${html}</main>`) }));
  return reportClaims({ ...rendered, ...changes, pages: home ? [home, ...others, comingSoon, failure] : [] }, NOW);
}
const textsOf = (list: readonly { text: string }[]) => list.map(({ text }) => text);

test("our ledger has exactly the strong sentences of our pages: at most 90, and more than half are claims", async () => {
  const { statements, unreviewed, expired } = await report();
  const ours = await readLedger(OUR_LEDGER);
  expect(textsOf(unreviewed)).toEqual([]);
  expect(textsOf(expired)).toEqual([]);
  expect(textsOf(ours).sort()).toEqual(textsOf(statements).sort());
  expect(ours.length).toBeLessThanOrEqual(90);
  expect(ours.filter(({ verdict }) => verdict === "no claim").length).toBeLessThan(ours.length / 2);
  for (const { text, reason } of ours) expect([text, Boolean(reason)]).toEqual([text, lawsOf(text).length > 0]);
});

test("reads the mail to senders, the form's own texts, the social card and the page for visitors who save data", async () => {
  const acknowledgement = { subject: "Green news", body: "Eco news {reference}" } as const;
  const socialCard = { path: "/card.jpg", headline: "Renewable news" };
  const [home] = rendered.pages.map((page) => ({ ...page, html: "", saveDataHtml: "<p>Climate news</p>", socialCard }));
  const site = { ...rendered.site, acknowledgement };
  const words = { ...rendered, site, scriptTexts: "<p>Planet news</p>", pages: home ? [home] : [] };
  const { unreviewed } = await reportClaims(words, NOW);
  expect(unreviewed.map(({ text, where }) => `${where}: ${text}`)).toEqual([
    "/: Climate news",
    "/: Renewable news",
    "contact form: Planet news",
    "mail to senders: Green news",
    "mail to senders: Eco news {reference}",
  ]);
});

test("our sentences are the same for a company with other names, and no name is exempt", async () => {
  const { legalName, brand, contactEmail } = rendered.site;
  const unreviewedOf = async (name: string) => {
    const other = JSON.parse(
      JSON.stringify(rendered)
        .replaceAll(legalName, `${name} Ltd`)
        .replaceAll(brand, name)
        .replaceAll(contactEmail, "hello@northwind-climate.com"),
    ) as RenderedSite;
    const pages = [...other.pages, other.comingSoon, other.failure];
    return textsOf((await reportClaims({ ...other, pages }, NOW)).unreviewed);
  };
  expect(await unreviewedOf("Northwind")).toEqual([]);
  expect(await unreviewedOf("Eco North")).toContain("This site is provided by Eco North Ltd");
});

describe("the ledger", () => {
  const TEXT = "Our forests cover 500 hectares";
  const entry: Review = { text: TEXT, verdict: "no claim", by: "A. Person", on: "2026-11-01" };
  const evidence = { shows: "the land register", at: "https://land.example/1", until: "2026-11-19" };
  const reportWith = async (...reviews: Review[]) => {
    const siteDir = `${await makeScratchFolder()}/`;
    await writeLedger(reviews, `${siteDir}claims.json`);
    return report(`<p>${TEXT}.</p>`, { siteDir });
  };

  test("asks to review a new sentence, and again after a change", async () => {
    expect(textsOf((await reportWith()).unreviewed)).toEqual([TEXT]);
    expect(textsOf((await reportWith(entry)).unreviewed)).toEqual([]);
    const changed = { ...entry, text: "Our forests cover 600 hectares" };
    const { unreviewed, lost } = await reportWith(changed);
    expect([textsOf(unreviewed), lost]).toEqual([[TEXT], [changed]]);
  });

  test("asks for evidence, and again when it has expired", async () => {
    const claim: Review = { ...entry, verdict: "claim", evidence };
    expect(textsOf((await reportWith(claim)).expired)).toEqual([TEXT]);
    const valid = { ...claim, evidence: { ...evidence, until: "2026-11-20" } };
    expect(textsOf((await reportWith(valid)).expired)).toEqual([]);
    const open = await reportWith({ ...entry, verdict: "claim", needs: "the land register" });
    const ours = (await report()).withoutEvidence.length;
    expect(claimsToDo(open)).toEqual([`${ours + 1} claims without evidence; npm run claims`]);
    expect(claimsState(open)).toMatchObject({ unreviewed: 0, withoutEvidence: ours + 1 });
    expect(claimsState(await reportWith(claim)).evidenceUntil[0]).toBe("2026-11-19");
  });

  test("of the company overrides ours", async () => {
    const text = "Carbon Offsetting Made Easy";
    expect(textsOf((await reportWith(entry)).withoutEvidence)).toContain(text);
    const own: Review = { ...entry, text, verdict: "claim", evidence };
    expect(textsOf((await reportWith(entry, own)).withoutEvidence)).not.toContain(text);
  });

  test("is refused with a list of all its problems", async () => {
    const file = join(await makeScratchFolder(), "claims.json");
    const late = { ...entry, verdict: "claim", evidence: { ...evidence, at: "shared drive", until: "2028-11-02" } };
    await writeFile(file, JSON.stringify([entry, { verdict: "claim" }, late, { ...entry, on: "2026-02-30" }]));
    await expect(readLedger(file)).rejects.toThrow(
      /entry 2: “text”.*\n.*entry 2: a claim must have “evidence”.*\n.*entry 3: evidence must have .*\n.*entry 3: .*2028-11-01 at the latest\n.*entry 4: “text”/,
    );
  });

  const PLACES = ["https://land.example/1", "reports/audit.pdf", "audit.pdf", "ISO 14068-1:2023", "Audit, 3 May 2026"];
  test.each(PLACES)("evidence may be at %s", (at) => expect(isPlace(at)).toBe(true));
});

test("a sentence without review stops the build before anything is written", async () => {
  const folder = await makeScratchFolder();
  for (const name of ["assets", "media"]) await mkdir(join(folder, name));
  const changed: Renderer = {
    ...renderer,
    renderSite: async (context) => {
      const site = await renderer.renderSite(context);
      return { ...site, failure: { ...site.failure, saveDataHtml: "<p>Our planet thanks you.</p>" } };
    },
  };
  const pageFiles = await readPageFiles("app/pages");
  const options = { renderer: changed, context: CONTEXT, pageFiles, outDir: folder, rendererDir: folder };
  await expect(writeSite({ ...options, isDraft: false })).rejects.toThrow(
    /^Not reviewed: error\n {2}Our planet thanks you\n {4}“planet”: .*\nTo review them: npm run claims -- review$/s,
  );
  expect(await readdir(folder)).toEqual(["assets", "media"]);
});
