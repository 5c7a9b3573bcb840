import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { Entry } from "../prerender/claims.ts";
import { makeScratchFolder } from "./support/scratch-folder.ts";

const PAGE = `---
title: About
description: Who we are.
---

We plant trees. Our flights are carbon neutral. Green Street 1 is our address. See [us](/contact "The kindest shop").

![](hills.png)
`;

async function makeCompany() {
  const siteDir = await makeScratchFolder();
  await mkdir(join(siteDir, "pages"));
  await writeFile(join(siteDir, "words.ts"), `export const tagline = "Eco trips";\n`);
  const site = `import { tagline } from "./words.ts";\nexport const site = { footerTagline: tagline };\n`;
  await writeFile(join(siteDir, "site.ts"), site);
  await writeFile(join(siteDir, "pages/about.md"), PAGE);
  await writeFile(join(siteDir, "pages/hills.png"), await readFile("tests/fixtures/pages/pictures/small.png"));
  await writeFile(join(siteDir, "our register.pdf"), "");
  const env = { ...process.env, SITE_DIR: siteDir };
  const claims = (parameters: string[], ...answers: string[]) =>
    spawnSync(process.execPath, ["scripts/claims.ts", ...parameters], {
      env,
      encoding: "utf8",
      input: answers.map((answer) => `${answer}\n`).join(""),
    });
  const ledger = async () => JSON.parse(await readFile(join(siteDir, "claims.json"), "utf8")) as Entry[];
  return { siteDir, claims, ledger };
}

const SOON = new Date(Date.now() + 20 * 86_400_000).toISOString().slice(0, 10);
const FIRST_YEAR = new Date(Date.now() + 365 * 86_400_000).toISOString().slice(0, 10);
const NO_DAY = `${Number(FIRST_YEAR.slice(0, 4)) + 1}-02-31`;

test("the list says of each sentence why its word matters, the law that forbids it, and a better sentence", async () => {
  const { claims } = await makeCompany();
  const listed = claims([]).stdout;
  expect(listed).toContain(
    "We plant trees (needs an entry)\n    “trees”: how many, where, and who looks after them?\n",
  );
  expect(listed).toMatch(
    /“carbon neutral”: .+ Forbidden by Directive 2005\/29\/EC, Annex I, 4c: .+\n.*Better: We have retired/,
  );
  expect(listed).toContain("words.ts");
});

test("a review asks for each sentence, shows the law and every changed file, and signs; then nothing is open", async () => {
  const { claims, ledger } = await makeCompany();
  const street = ["n", "it is an address"];
  const neutral = ["x", "n", "e", "an audit", "https://audit.example/1", "", FIRST_YEAR];
  const trees = ["e", "the land register", "no register.pdf", "our register.pdf", "2020-01-01", NO_DAY, FIRST_YEAR];
  const answers = ["n", "it is a name", ...trees, ...neutral, ...street];
  const cutShort = claims(["--review"], ...answers);
  expect(cutShort).toMatchObject({ status: 1, stderr: expect.stringContaining("Nothing was signed") });
  const { stdout, status } = claims(["--review"], ...answers, "x", "Ada Byron");
  expect([status, stdout]).toEqual([0, expect.stringContaining("Ada Byron has signed 3 files")]);
  expect(stdout).toContain("the file no register.pdf does not exist beside claims.json");
  expect(stdout).toMatch(/Forbidden by Directive 2005\/29\/EC, Annex I, 4c: a claim, based on offsetting/);
  expect(stdout).toContain("\n  The kindest shop\n");
  expect(stdout).toContain("(a picture that says nothing to people who cannot see it: hills.png)");
  const by = { by: "Ada Byron", on: new Date().toISOString().slice(0, 10) };
  expect(await ledger()).toMatchObject([
    { file: "pages/about.md", ...by },
    { file: "site.ts", ...by },
    { file: "words.ts", ...by },
    { page: "/about", text: "Green Street 1 is our address", noClaim: "it is an address", ...by },
    {
      text: "Our flights are carbon neutral",
      evidence: { until: FIRST_YEAR },
      law: expect.stringMatching(/4c$/),
      ...by,
    },
    { text: "We plant trees", evidence: { at: "our register.pdf", shows: "the land register" }, ...by },
    { page: "every page", text: "Eco trips", noClaim: "it is a name", ...by },
  ]);
  expect(claims([]).stdout).toMatch(/^Nothing is open\./);
  expect(claims(["--sign", "NAME"]).stderr).toContain("“NAME” is not the name of a person");
  expect(claims(["--revew"])).toMatchObject({ status: 2, stderr: expect.stringContaining("Usage: npm run claims") });
});

test("a review asks for new evidence from a month before the old one ends", async () => {
  const { siteDir, claims, ledger } = await makeCompany();
  await writeFile(join(siteDir, "site.ts"), "export const site = {};\n");
  await writeFile(join(siteDir, "pages/about.md"), "---\ntitle: About\ndescription: Us.\n---\n\nWe plant trees.\n");
  const evidence = ["e", "the land register", "our register.pdf"];
  expect(claims(["--review"], ...evidence, SOON, "Ada Byron").status).toBe(0);
  expect(claims([]).stdout).toMatch(/^Nothing is open\./);
  const renewed = claims(["--review"], ...evidence, FIRST_YEAR, "Ada Byron");
  expect([renewed.status, renewed.stdout]).toEqual([0, expect.stringContaining(`(its evidence ends on ${SOON})`)]);
  expect(await ledger()).toContainEqual(
    expect.objectContaining({ evidence: expect.objectContaining({ until: FIRST_YEAR }) }),
  );
  expect(claims(["--review"]).stdout).toMatch(/^Nothing is open\.\n$/);
});

test("a review ends after the signature, although a terminal stays open", async () => {
  const { siteDir, claims } = await makeCompany();
  await writeFile(join(siteDir, "site.ts"), "export const site = {};\n");
  await writeFile(join(siteDir, "pages/about.md"), "---\ntitle: About\ndescription: Who we are.\n---\n");
  const review = spawn(process.execPath, ["scripts/claims.ts", "--review"], {
    env: { ...process.env, SITE_DIR: siteDir },
    stdio: ["pipe", "ignore", "inherit"],
  });
  onTestFinished(() => void review.kill());
  const ended = once(review, "exit");
  review.stdin.write("Ada Byron\n");
  expect(await ended).toEqual([0, null]);
  expect(claims([]).stdout).toMatch(/^Nothing is open\./);
});
