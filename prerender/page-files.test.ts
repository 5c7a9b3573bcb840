import { randomUUID } from "node:crypto";
import { cp, mkdir, readFile, rm, writeFile } from "node:fs/promises";
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
  const { pages, paths, lines } = await read({
    "about.mdx": FRONT_MATTER.replace("title", "also: /team, /who-we-are\ntitle"),
    "articles/index.mdx": FRONT_MATTER,
    "articles/2026/first-steps.mdx": FRONT_MATTER,
    "README.md": "Not a page.",
  });
  expect(lines).toEqual([]);
  expect(pages.map(({ path }) => path)).toEqual(["/about", "/articles", "/articles/2026/first-steps"]);
  expect(pages[0]?.also).toEqual(["/team", "/who-we-are"]);
  const aliases = paths.map(({ path }) => path).slice(pages.length);
  expect(aliases).toEqual(["/team", "/who-we-are"]);
  expect(findPathProblems(paths, ["/team"])).toMatchObject([{ message: /^\/team is already a page/ }]);
});

test("the example of docs/writing.md is a page", async () => {
  const guide = await readFile("docs/writing.md", "utf8");
  const [, example = ""] = /```mdx\n(\s+---\n.*?)```/s.exec(guide) ?? [];
  const { pages, lines } = await read({ "about.mdx": example.replaceAll(/^ {3}/gm, "") });
  expect(lines).toEqual([]);
  expect(pages).toMatchObject([{ path: "/about", title: "About us" }]);
});

test("a folder that does not exist has no pages", async () => {
  expect(await readPageFiles("no/such/folder")).toEqual({ pages: [], paths: [], problems: [] });
});

test.each([
  [
    "\uFEFF---\r\n# A comment\r\ntitle: 'What: \"credits\"'\r\n\r\ndescription:   Plain: words  \r\n---\r\n\r\nText\r\n",
    'What: "credits"',
    "Plain: words",
  ],
  [
    '---\ntitle: \'It\'\'s "here"\'\ndescription: "A \\"page\\" that\'s it"\n---\n',
    `It's "here"`,
    `A "page" that's it`,
  ],
  ["---\ntitle: It''s\ndescription: A \\\"page\\\"\n---\n", "It''s", 'A \\"page\\"'],
])("reads the front matter %j like YAML, also with Windows line ends", async (text, title, description) => {
  const { pages, lines } = await read({ "a.mdx": text });
  expect(lines).toEqual([]);
  expect(pages).toMatchObject([{ title, description }]);
});

test("a page may use a new picture several times", async () => {
  const { pages, lines } = await read({
    "new.svg": `<svg xmlns="http://www.w3.org/2000/svg" width="8" height="8"><title>${randomUUID()}</title></svg>`,
    "a.mdx": `${FRONT_MATTER}${"\n![A square](new.svg)\n".repeat(20)}`,
  });
  const [resized = ""] = /[^"]+(?=\/new-16\.webp)/.exec(pages[0]?.code ?? "") ?? [];
  if (resized !== "") await rm(resized, { recursive: true });
  expect(lines).toEqual([]);
});

test.each([
  ["Text only", ["1: It has no title and description. Start the file with: ---"]],
  ["---\ntitle: A\n", ["1: It has no title and description that end with ---. Start the file with: ---"]],
  ["---\ntitle: A\n---\n", ['1: It has no description. Add a line "description: …"']],
  ["---\ndescription: A\n---\n", ['1: It has no title. Add a line "title: …"']],
  ["---\ntitle:\ndescription: ''\n---\n", ["2: The title is empty.", "3: The description is empty."]],
  ["---\ntitle: A\ndescription: >\n  More\n---\n", ["3: The description is empty.", '4: "More" is neither']],
  ["---\ntitle: A\ntitle: B\ndescription: C\n---\n", ["3: The title is given twice."]],
  [
    "---\ntitel: A\n---\n",
    ['2: "titel: A" is neither the title nor', "1: It has no title.", "1: It has no description."],
  ],
  [`---\ntitle: ${"a".repeat(121)}\ndescription: B\n---\n`, ["2: The title has 121 characters. Shorten it to 120"]],
])("refuses the front matter %j", async (text, expected) => {
  const { lines, pages, paths } = await read({ "a.mdx": text });
  expect(lines).toEqual(expected.map((start) => expect.stringContaining(`a.mdx:${start}`)));
  expect(pages).toEqual([]);
  expect(paths).toMatchObject([{ path: "/a" }]);
});

test.each([
  ["![](pictures/small.png)", "5: The picture pictures/small.png has no alt text. Say what it shows:"],
  ["\n![ ][x]\n\n[x]: pictures/small.png", "6: The picture pictures/small.png has no alt text."],
  ['Text <img src="pictures/small.png" />', "5: The picture pictures/small.png has no alt text."],
  ['<img src="pictures/small.png" alt />', "5: The picture pictures/small.png has no alt text."],
  ["![A dot](pictures/none.png)", "5: There is no picture "],
  ["![A dot](broken.png)", "5: …/broken.png cannot be read as a picture."],
  ["![A dot](../small.png)", "5: The picture ../small.png is not in "],
  ["![A dot](https://example.org/a.png)", "5: https://example.org/a.png is on another site"],
  ["![A dot](pictures/small.pdf)", '5: "pictures/small.pdf" is not a picture.'],
  ["# Again a title", "5: The title is the page's first heading. Start this one with ##"],
  ["## One\n\n#### Two", "7: The heading skips a level. Start it with ###."],
  ["Text\n\n[](/contact)", "7: The link to /contact has no text."],
  ["Text {1 + 1}", '5: "{" starts code. To show the character itself, write \\{'],
  ["Text\n\n{\n  process.exit()\n}", '7: "{" starts code.'],
  ["import fs from 'node:fs'", "5: import and export are code"],
  ["<script>alert(1)</script>", "5: <script> is not allowed in pages."],
  ["Text <Chart />", "5: <Chart> is not allowed in pages. Use Markdown, or one of: a, abbr,"],
  ['<span style="color: red">Text</span>', '5: The site\'s security policy refuses "style".'],
  ["<span style={{ color: 'red' }}>Text</span>", "5: An attribute of <span> is code."],
  ['<b data-fact="grams">100 %</b>', '5: "data-fact" is for values that the program computes.'],
  ['<b onclick="alert(1)">Text</b>', '5: The site\'s security policy refuses "onclick".'],
  ["<a {...all}>Text</a>", "5: An attribute of <a> is code."],
  ["\nLess <br> more", "6: "],
  [
    "Less <5",
    '5: Unexpected character `5` (U+0035) before name… "<" and "{" start code: write \\< and \\{ to show them, and close every <element>.',
  ],
  ["\n\nA {brace", "7: "],
  ["<!-- A comment -->", "5: Unexpected character `!`"],
])("refuses the text %j", async (text, expected) => {
  const { lines } = await read({ "a.mdx": FRONT_MATTER + text, "broken.png": "not a picture" });
  for (const part of `a.mdx:${expected}`.split("…")) expect(lines).toEqual([expect.stringContaining(part)]);
});

test("reports all problems of all files at once", async () => {
  const { lines } = await read({
    "a.mdx": `${FRONT_MATTER}# One\n\n![](pictures/small.png)\n`,
    "b.mdx": "---\ntitle: B\n---\n\n{",
    "c.md": "Not MDX",
    "careers.MDX": FRONT_MATTER,
    "d.mdx": FRONT_MATTER,
    "ReadMe.md": "Not a page.",
  });
  expect(lines).toEqual([
    "c.md:1: Pages end in .mdx. Rename the file to c.mdx.",
    "careers.MDX:1: Pages end in .mdx. Rename the file to careers.mdx.",
    expect.stringMatching(/^a\.mdx:5: /),
    expect.stringMatching(/^a\.mdx:7: /),
    expect.stringMatching(/^b\.mdx:1: It has no description/),
    expect.stringMatching(/^b\.mdx:5: /),
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
  [["contact.mdx"], ["/contact is already a page of the site."]],
  [["contact-us/index.mdx"], ["/contact-us is already a page of the site."]],
  [["index.mdx"], ["/ is already a page of the site."]],
  [["Contact.mdx"], ["/Contact differs from /contact, a page of the site, by case only.", '"Contact" cannot be part']],
  ...["media", "assets/team", "send-email", "healthz", "404"].map((name) => [
    [`${name}.mdx`],
    [`/${name} is reserved for technical files.`],
  ]),
  [
    ["assets/carbon.mdx"],
    ["/assets/carbon is already a page of the site.", "/assets/carbon is reserved for technical"],
  ],
  [["robots.txt.mdx"], ["/robots.txt is reserved for technical files.", '"robots.txt" cannot be part of an address.']],
  [
    ["carbon.json.mdx"],
    ["/carbon.json is reserved for technical files.", '"carbon.json" cannot be part of an address.'],
  ],
  [["About Us.mdx"], ['"About Us" cannot be part of an address. Rename it to about-us: use lower-case letters']],
  [["Über_uns.mdx"], ['"Über_uns" cannot be part of an address. Rename it to uber-uns: use lower-case letters']],
  [["news--old.mdx"], ['"news--old" cannot be part of an address. Rename it to news-old: use lower-case letters']],
  [
    ["About.mdx", "about.mdx"],
    ['"About" cannot be part', "/About differs from /about (", "by case only. Rename one"],
  ],
])("refuses the paths of %j", async (names, expected) => {
  const problems = (await pathProblemsOf(...names)).join("\n");
  for (const part of expected) expect(problems).toContain(part);
});

test("refuses two files with the same path, and names the other file", async () => {
  const [problem, ...others] = await pathProblemsOf("about.mdx", "about/index.mdx");
  expect(others).toEqual([]);
  expect(problem).toMatch(
    /^about\/index\.mdx:1: Its address is \/about, the same as for .+\/about\.mdx\. Remove one of them\.$/,
  );
});

test("accepts paths that only resemble those of the site", async () => {
  expect(
    await pathProblemsOf("contact/team.mdx", "assets-we-own.mdx", "media-kit.mdx", "home.mdx", "2026.mdx"),
  ).toEqual([]);
});
