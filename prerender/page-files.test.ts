import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { expect, test } from "vitest";
import { makeScratchFolder } from "../tests/support/scratch-folder.ts";
import { findPathProblems, type PageFiles, readPageFiles } from "./page-files.ts";

const FRONT_MATTER = "---\ntitle: A page\ndescription: What it is about.\n---\n";

/** Writes the files into a folder, and reads the pages in it. */
async function read(files: Readonly<Record<string, string>>): Promise<PageFiles & { lines: string[] }> {
  const dir = await makeScratchFolder();
  await cp("tests/fixtures/pages/pictures", join(dir, "pictures"), { recursive: true });
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(dir, name)), { recursive: true });
    await writeFile(join(dir, name), text);
  }
  const found = await readPageFiles(dir);
  const lines = found.problems.map(({ file, line, message }) => `${relative(dir, file)}:${line}: ${message}`);
  return { ...found, lines };
}

test("a file's location is the page's path, also in subfolders", async () => {
  const { pages, lines } = await read({
    "about.md": FRONT_MATTER,
    "articles/index.md": FRONT_MATTER,
    "articles/2026/first-steps.md": FRONT_MATTER,
    "README.md": "Not a page.",
  });
  expect(lines).toEqual([]);
  expect(pages.map(({ path }) => path)).toEqual(["/about", "/articles", "/articles/2026/first-steps"]);
});

test("the example of docs/writing.md is a page", async () => {
  const guide = await readFile("docs/writing.md", "utf8");
  const [, example = ""] = /```markdown\n(\s+---\n.*?)```/s.exec(guide) ?? [];
  const { pages, lines } = await read({ "about.md": example.replaceAll(/^ {3}/gm, "") });
  expect(lines).toEqual([]);
  expect(pages).toMatchObject([{ path: "/about" }]);
});

test("a folder that does not exist has no pages", async () => {
  expect(await readPageFiles("no/such/folder")).toEqual({ pages: [], paths: [], problems: [] });
});

test.each([
  ["Text only", ["1: The title is missing.", "1: The description is missing."]],
  ["---\ntitle: A\n", ["2: The title is missing.", "1: The description is missing."]],
  ["---\ntitle: 2026\ndescription: ''\n---\n", ["2: The title must be a text", "3: The description is empty."]],
  ["---\ntitle: A: B\ndescription: C\n---\n", ["2: Nested mappings are not allowed"]],
  [
    `---\nalso: /b\ntitle: ${"a".repeat(121)}\ndescription: B\n---\n`,
    ["3: The title is too long", '2: There is no "also"'],
  ],
  ["---\ntitle: A {total}\ndescription: B\n---\n", ['2: "{" begins no known fact.']],
])("refuses the front matter %j", async (text, expected) => {
  const { lines, pages, paths } = await read({ "a.md": text });
  expect(lines).toEqual(expected.map((start) => expect.stringContaining(`a.md:${start}`)));
  expect(pages).toEqual([]);
  expect(paths).toMatchObject([{ path: "/a" }]);
});

test.each([
  ["![](pictures/small.png)", "5: The picture pictures/small.png has no alt text. Say what it shows:"],
  ["\n![ ][x]\n\n[x]: pictures/small.png", "6: The picture pictures/small.png has no alt text."],
  ["![A dot](pictures/none.png)", "5: There is no picture "],
  ["![A dot](broken.png)", "5: …/broken.png cannot be read as a picture."],
  ["![A dot](../small.png)", "5: The picture ../small.png is not in "],
  ["![A dot](https://example.org/a.png)", "5: https://example.org/a.png is on another site"],
  ["![A dot](pictures/small.pdf)", '5: "pictures/small.pdf" is not a picture.'],
  ["# Again a title", "5: The title is the page's first heading. Start this one with ## instead of #."],
  ["## One\n\n#### Two", "7: The heading skips a level. Start it with ###."],
  ["Text\n\n[](/contact)", "7: The link to /contact has no text."],
  ["Text {1 + 1}", '5: "{" begins no known fact. To show the character itself, write \\{ . The facts are: {brand} '],
  ["    {/* indented */}", "5: A page has no comments, because visitors would see them. Remove it."],
  ["`{brnad}`", '5: "{" begins no known fact.'],
  ["\\\\{name}", '5: "{" begins no known fact.'],
  ["<script>alert(1)</script>", "5: Write Markdown instead of <script>: a page has no HTML. To show"],
  ["A\n\nText <Chart.Bar", "7: Write Markdown instead of <Chart.Bar>"],
  ["Text <>all</>", "5: Write Markdown instead of <>"],
  ["<!-- A comment -->", "5: A page has no comments"],
])("refuses the text %j", async (text, expected) => {
  const { lines } = await read({ "a.md": FRONT_MATTER + text, "broken.png": "not a picture" });
  for (const part of `a.md:${expected}`.split("…")) expect(lines).toEqual([expect.stringContaining(part)]);
});

test.each([
  "a < b, 1 <5, <https://example.org/{brand}>, <a@example.org>, \\<b> and &lt;b&gt;",
  "`<b>` and\n\n```\n<div>\n```",
  "\\{brand} \\\\ {brand}\n\n| {governingLaw} |\n|---|\n| [x]({websiteUrl}/a) |",
  "[note]: # (Markdown's own notes are shown to nobody)",
])("accepts the text %j", async (text) => {
  expect((await read({ "a.md": FRONT_MATTER + text })).lines).toEqual([]);
});

test("names every place of a page of 1.1.0 that must change, with the problems of all other files", async () => {
  const { lines } = await read({
    "a.mdx": `${FRONT_MATTER}H<sub>2</sub>O {/* a note */}\n\nWrite to <ContactEmail end="." />\n\n{/*\n\n<sup>2</sup> */}`,
    "b.md": "---\ntitle: B\n---\n\n{",
    "d.md": FRONT_MATTER,
  });
  expect(lines).toEqual([
    "a.mdx:1: Pages end in .md: rename it to a.md.",
    expect.stringMatching(/^a\.mdx:5: A page has no comments/),
    expect.stringMatching(/^a\.mdx:9: A page has no comments/),
    "a.mdx:5: Write the character itself, such as ₂ or ², instead of <sub>.",
    "a.mdx:7: Write {contactEmail} instead of <ContactEmail />, and punctuation after it.",
    "a.mdx:11: Write the character itself, such as ₂ or ², instead of <sup>.",
    expect.stringMatching(/^b\.md:1: The description is missing/),
    expect.stringMatching(/^b\.md:5: "\{" begins/),
  ]);
});

const SPECIFIED = ["/", "/contact", "/contact-us", "/delivery", "/Delivery", "/assets/carbon"];

/** The path problems of files with these names. */
async function pathProblemsOf(...names: string[]): Promise<string[]> {
  const { paths } = await read(Object.fromEntries(names.map((name) => [name, FRONT_MATTER])));
  const folder = paths[0] ? dirname(paths[0].file) : "";
  return findPathProblems(paths, SPECIFIED).map(
    ({ file, line, message }) => `${relative(folder, file)}:${line}: ${message}`,
  );
}

test.each([
  [["contact.md"], ["/contact is already a page of the site."]],
  [["contact-us/index.md"], ["/contact-us is already a page of the site."]],
  [["index.md"], ["/ is already a page of the site."]],
  [["Contact.md"], ["/Contact differs from /contact, a page of the site, by case only.", '"Contact" cannot be part']],
  ...["media", "assets/team", "send-email", "healthz", "404"].map((name) => [
    [`${name}.md`],
    [`/${name} is reserved for technical files.`],
  ]),
  [["assets/carbon.md"], ["/assets/carbon is already a page of the site.", "/assets/carbon is reserved for technical"]],
  [["robots.txt.md"], ["/robots.txt is reserved for technical files.", '"robots.txt" cannot be part of an address.']],
  [["About Us.md"], ['"About Us" cannot be part of an address. Rename it: use lower-case letters']],
  [["news--old.md"], ['"news--old" cannot be part of an address.']],
  [
    ["About.md", "about.md"],
    ['"About" cannot be part', "/About differs from /about (", "by case only. Rename one"],
  ],
])("refuses the paths of %j", async (names, expected) => {
  const problems = (await pathProblemsOf(...names)).join("\n");
  for (const part of expected) expect(problems).toContain(part);
});

test("refuses two files with the same path, and names the other file", async () => {
  const [problem, ...others] = await pathProblemsOf("about.md", "about/index.md");
  expect(others).toEqual([]);
  expect(problem).toMatch(
    /^about\/index\.md:1: Its address is \/about, the same as for .+\/about\.md\. Remove one of them\.$/,
  );
});

test("accepts paths that only resemble those of the site", async () => {
  expect(await pathProblemsOf("contact/team.md", "assets-we-own.md", "media-kit.md", "home.md", "2026.md")).toEqual([]);
});
