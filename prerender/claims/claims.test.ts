import { execFile } from "node:child_process";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { createServer, type ViteDevServer } from "vite";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RenderedSite } from "../../app/render.tsx";
import type { RenderContext } from "../../app/screen.ts";
import { parseBuildSettings } from "../../contract/build-settings.ts";
import { makeScratchFolder } from "../../tests/support/scratch-folder.ts";
import config from "../../vite.config.ts";
import { readPageFiles } from "../page-files.ts";
import { loadRenderer } from "../site-plugin.ts";
import { writeSite } from "../write-site.ts";
import { FORBIDDEN, forbiddenWording } from "./forbidden.ts";
import { ledgerFile, type Review, readLedger, writeLedger } from "./ledger.ts";
import { marked, review } from "./review.ts";
import { sentencesOfHtml, sentencesOfText } from "./sentences.ts";
import { claimsState, claimsToDo, reportClaims, wordsToReview } from "./site-claims.ts";

const NAMES = ["Brighter Carbon"];
const isSubject = (text: string) => wordsToReview(text, NAMES).length > 0;
const stopOf = (text: string, block = text) => forbiddenWording({ text, block, isQuoted: false })?.name ?? null;

describe.each(FORBIDDEN)("forbidden: $name", ({ name, law, better, examples }) => {
  test.each(examples.stopped)("stops: %s", (example) => expect(stopOf(example)).toBe(name));
  test.each(examples.passed)("leaves to a person: %s", (example) => expect(stopOf(example)).toBeNull());
  test("names its law and a better wording that passes", () => {
    expect(law).toContain("2005/29/EC");
    for (const { text } of sentencesOfText(better)) expect(stopOf(text)).toBeNull();
  });
});

test.each([
  "Great fares shouldn't cost the earth.",
  "Fly CO2 zero",
  "our lowest-emission product",
  "Invest in a sustainable future",
  "CO₂",
  "CO²",
  "CO 2",
  "10 kg CO₂eq",
  "1,000 tCO₂e",
])("subject to review: %s", (text) => expect(isSubject(text)).toBe(true));

test("the brand alone is not", () => expect(isSubject("This site is provided by Brighter Carbon.")).toBe(false));

test.each(["We took the carbon neutral logo off.", "Source: Electricity Maps 2024.", "Add 9.87 % credit card fees."])(
  "not stopped: %s",
  (text) => expect(stopOf(text)).toBeNull(),
);

test.each(["CO2", "CO₂", "CO²"])("%s is the same in every spelling, and no specification", (gas) => {
  expect(stopOf(`Our parcels are ${gas} neutral.`)).toBe("neutral thanks to offsets");
  expect(stopOf("Our boxes are eco-friendly.", `Our boxes are eco-friendly. They spare ${gas}.`)).toBe(
    "generic praise",
  );
});

test("a specification in the same paragraph, or quotation marks, leave it to a person", () => {
  const praise = "Our boxes are eco-friendly.";
  expect(stopOf(praise)).toBe("generic praise");
  expect(stopOf(praise, `${praise} 90 % of the fibre is recycled.`)).toBeNull();
  expect(stopOf("“Our boxes are eco-friendly.”")).toBeNull();
  expect(forbiddenWording({ text: praise, block: praise, isQuoted: true })).toBeNull();
});

test("of the corpus, 97 of 100 claims are reviewed or stopped, 95 of 100 stops are right, 1 of 100 innocents is stopped", async () => {
  const lines = (await readFile("tests/fixtures/claims-corpus.txt", "utf8")).split("\n");
  const entries = lines.flatMap((line) => {
    const [, kind, text = ""] = /^([FCI]) (.+)$/.exec(line) ?? [];
    return kind ? [{ kind, isStopped: stopOf(text) !== null, isSubject: isSubject(text) }] : [];
  });
  type Entry = (typeof entries)[number];
  const share = (of: readonly Entry[], isPart: (one: Entry) => boolean) => of.filter(isPart).length / of.length;
  const claims = entries.filter(({ kind }) => kind !== "I");
  const innocent = entries.filter(({ kind }) => kind === "I");
  const stops = entries.filter(({ isStopped }) => isStopped);
  expect(entries.length).toBeGreaterThan(450);
  expect(share(claims, (one) => one.isSubject || one.isStopped)).toBeGreaterThanOrEqual(0.97);
  expect(share(stops, ({ kind }) => kind === "F")).toBeGreaterThanOrEqual(0.95);
  expect(share(innocent, ({ isStopped }) => isStopped)).toBeLessThanOrEqual(0.01);
});

test("a page is read as a visitor reads it", () => {
  const html = `<!doctype html><html><head><title>A title</title><meta name="description" content="One. Two."><style>p{}</style></head>
    <body><p>CO<sub>2</sub> is <b>one</b>&nbsp;word.<br>Costs 1.5 kg, e.g. more. <q>Quoted</q> words</p><img alt="A turbine">
    <ul><li>First<li>Second</ul><blockquote><p>Praise.</p></blockquote><p>About <span data-fact="grams">0.05</span> g.</p>
    <noscript><p>Without script.</p></noscript><script>no("text")</script><template>Hidden.</template></body></html>`;
  expect(sentencesOfHtml(html).map(({ text }) => text)).toEqual([
    "A title",
    "CO2 is one word.",
    "Costs 1.5 kg, e.g. more.",
    "“Quoted” words",
    "First",
    "Second",
    "Praise.",
    "About {grams} g.",
    "Without script.",
    "One.",
    "Two.",
    "A turbine",
  ]);
  expect(sentencesOfHtml(html).filter(({ isQuoted }) => isQuoted)).toMatchObject([{ text: "Praise." }]);
});

const CONTEXT: RenderContext = {
  settings: parseBuildSettings({}).settings,
  scripts: { film: { code: "" }, contact: { url: "/contact.js" } },
  electricityUrl: "/electricity.json",
  isSavingData: false,
};
const NOW = new Date("2026-11-20T12:00:00Z");

type Renderer = typeof import("../../app/render.tsx");
let server: ViteDevServer;
let renderer: Renderer;
let rendered: RenderedSite;
beforeAll(async () => {
  const options = { middlewareMode: true, ws: false, watch: null } as const;
  server = await createServer({ ...config, configFile: false, logLevel: "warn", server: options });
  renderer = await loadRenderer(server);
  rendered = await renderer.renderSite(CONTEXT);
});
afterAll(() => server.close());

/** The site with one more sentence on its home page. */
function siteSaying(text: string): RenderedSite {
  const pages = rendered.pages.map((page) => ({
    ...page,
    html: page.html.replace("</main>", `<p>${text}</p></main>`),
  }));
  return { ...rendered, pages };
}

test("every sentence of ours about the environment is in the ledger, and none is forbidden", async () => {
  const report = reportClaims(rendered, await readLedger(ledgerFile("app/")), NOW);
  for (const part of ["forbidden", "unreviewed", "expired", "lost"] as const) {
    expect(report[part].map(({ text }) => text)).toEqual([]);
  }
});

test("pages, titles, descriptions, alerts, the estimate and the mail to senders are read, with file and line", () => {
  const { statements } = reportClaims(rendered, [], NOW);
  const find = (text: string) => statements.find((statement) => statement.text.includes(text));
  const line = expect.any(Number);
  expect(find("First light over hills")).toMatchObject({ page: "/", file: "app/document.tsx", line });
  expect(find("Support solar and wind projects")).toMatchObject({ page: "/", file: "app/screens/home.tsx" });
  expect(find("We received your estimate too")).toMatchObject({ page: "contact form" });
  expect(find("A fifth less heating")).toMatchObject({ page: "contact form" });
  expect(find("credits recorded or retired on your behalf")).toMatchObject({ file: "app/policies/privacy.mdx" });
  expect(statements.find(({ text }) => text === "Carbon Offsetting Made Easy")?.pages.length).toBeGreaterThan(1);
});

describe("the ledger", () => {
  const TEXT = "Our forests cover 500 hectares.";
  const entry: Review = { text: TEXT, where: "/", verdict: "no claim", by: "A. Person", on: "2026-11-01" };
  const evidence = { shows: "the land register", at: "https://land.example", until: "2026-11-19" };
  const reportWith = (...reviews: Review[]) => reportClaims(siteSaying(TEXT), reviews, NOW);
  const isIn = (list: readonly { text: string }[]) => list.some(({ text }) => text === TEXT);

  test("asks for a new sentence, and again when it has changed", () => {
    expect(isIn(reportWith().unreviewed)).toBe(true);
    expect(isIn(reportWith(entry).unreviewed)).toBe(false);
    const changed = reportClaims(siteSaying("Our forests cover 600 hectares."), [entry], NOW);
    expect(changed.unreviewed.map(({ text }) => text)).toContain("Our forests cover 600 hectares.");
    expect(changed.lost).toEqual([entry]);
  });

  test("asks for evidence, and again when it has ended", () => {
    const claim: Review = { ...entry, verdict: "claim", evidence };
    expect(isIn(reportWith(claim).expired)).toBe(true);
    expect(isIn(reportWith({ ...claim, evidence: { ...evidence, until: "2026-11-20" } }).expired)).toBe(false);
    const open = reportWith({ ...claim, evidence: null });
    expect(isIn(open.withoutEvidence)).toBe(true);
    expect(claimsToDo(open)).toEqual([
      expect.stringMatching(/^\d+ sentences about the environment are not reviewed; npm run claims$/),
      "To do before launch, show the evidence in app/claims.json for:",
      `  ${TEXT}`,
    ]);
    expect(claimsState(reportWith(claim), [claim])).toMatchObject({ evidence: [{ text: TEXT, until: "2026-11-19" }] });
  });

  test("does not make forbidden wording allowed", () => {
    const text = "Our parcels are carbon neutral.";
    const report = reportClaims(siteSaying(text), [{ ...entry, text }], NOW);
    expect(report.forbidden).toMatchObject([{ text, page: "/", pages: expect.arrayContaining(["/", "/contact"]) }]);
  });

  test("is refused with every problem in it", async () => {
    const file = join(await makeScratchFolder(), "claims.json");
    const late = { ...entry, verdict: "claim", evidence: { ...evidence, until: "2028-11-02" } };
    await writeFile(file, JSON.stringify([entry, { text: "" }, late, { ...entry, verdict: "claim" }]));
    await expect(readLedger(file)).rejects.toThrow(
      /entry 2: “text” is missing\n.*entry 3: evidence ends by 2028-11-01 .*\n.*entry 4: a claim needs “evidence”/s,
    );
    await writeLedger([entry], file);
    expect(await readLedger(file)).toEqual([entry]);
  });

  test("is filled by a review, which saves each answer", async () => {
    const report = { ...reportWith(), unreviewed: reportWith().unreviewed.filter(({ text }) => text === TEXT) };
    const [statement] = report.unreviewed;
    if (!statement) throw new Error("The sentence is not subject to review.");
    expect(marked(statement, false)).toBe("Our [forests] cover 500 hectares.");
    const lost: Review = { ...entry, text: "Gone." };
    const saved: Review[][] = [];
    const withMistakes = ["", "Ada", "x", "c", "the register", "", "2030-01-01"];
    const answers = [...withMistakes, "the register", "page 1", "2027-01-31", "d"];
    await review({ ...report, lost: [lost] }, [lost], {
      say: () => {},
      ask: async () => answers.shift() ?? "s",
      save: async (reviews) => void saved.push(structuredClone([...reviews])),
      today: "2026-11-20",
      isTerminal: false,
    });
    const found = { shows: "the register", at: "page 1", until: "2027-01-31" };
    const where = expect.stringMatching(/^\/ and \d+ more$/);
    const decided = { text: TEXT, where, verdict: "claim", evidence: found, by: "Ada", on: "2026-11-20" };
    expect(saved).toEqual([[lost, decided], [decided]]);
  });
});

test("forbidden wording stops the build before anything is written, also where only visitors who save data see it", async () => {
  const folder = await makeScratchFolder();
  for (const name of ["assets", "media"]) await mkdir(join(folder, name));
  const changed: Renderer = {
    ...renderer,
    renderSite: async (context) => {
      const site = await renderer.renderSite(context);
      return { ...site, failure: { ...site.failure, saveDataHtml: "<p>We are carbon neutral.</p>" } };
    },
  };
  const pageFiles = await readPageFiles("app/pages");
  const build = writeSite({ renderer: changed, context: CONTEXT, pageFiles, outDir: folder, rendererDir: folder });
  await expect(build).rejects.toThrow(
    /^error: We are carbon neutral\.\n {2}forbidden: Directive 2005\/29\/EC, .*\n {2}better: .*docs\/claims\.md says what to do\.$/s,
  );
  expect(await readdir(folder)).toEqual(["assets", "media"]);
});

test("npm run claims -- --json lists what is forbidden, not reviewed and expired", { timeout: 60_000 }, async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ["scripts/claims.ts", "--json"]);
  expect(JSON.parse(stdout)).toMatchObject({ forbidden: [], unreviewed: [], expired: [] });
});
