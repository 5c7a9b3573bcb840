import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { site } from "virtual:site";
import { expect, test } from "vitest";
import { parseBuildSettings } from "../contract/build-settings.ts";
import { makeScratchFolder } from "../tests/support/scratch-folder.ts";
import { findBrokenLinks } from "./links.ts";
import { settingStrings } from "./site-dir.ts";
import { findPathProblems, readPages, textProblems } from "./texts.ts";

const MATTER = "---\ntitle: A page\ndescription: What it is about.\n---\n";
const SPECIFIED = [["/"], ["/contact", "/contact-us"], ["/delivery", "/Delivery"], ["/assets/carbon"]];

async function read(files: Readonly<Record<string, string>>) {
  const dir = await makeScratchFolder();
  await cp("tests/fixtures/pages/pictures", join(dir, "pictures"), { recursive: true });
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(dir, name)), { recursive: true });
    await writeFile(join(dir, name), text);
  }
  const pages = await readPages(dir);
  const { settings } = parseBuildSettings({ SITE_URL: "https://www.example.com" });
  const taken = findPathProblems(pages, SPECIFIED.flat());
  const targets = { settings, pages: SPECIFIED, filePaths: ["/robots.txt"], taken };
  const settingLinks = (await settingStrings(site, "app/")).filter(({ value }) => value === "/careers");
  const problems = [...textProblems(pages), ...taken, ...findBrokenLinks(pages, settingLinks, targets)];
  return { pages, lines: problems.map(({ file, line, message }) => `${relative(dir, file)}:${line}: ${message}`) };
}

test("a file's location is the page's path, also in subfolders", async () => {
  const guide = await readFile("docs/writing.md", "utf8");
  const [, example = ""] = /```markdown\n(\s+---\n.*?)```/s.exec(guide) ?? [];
  const { pages, lines } = await read({
    // The example of the guide is a page.
    "about.md": example.replaceAll(/^ {3}/gm, ""),
    "articles/index.md": MATTER,
    "articles/2026/first-steps.md": MATTER,
    "README.md": "Not a page.",
  });
  expect(lines).toEqual([]);
  expect(pages.map(({ page }) => page)).toEqual(["/about", "/articles", "/articles/2026/first-steps"]);
  expect(await readPages("no/such/folder")).toEqual([]);
});

test.each([
  ["Text only", ["1: The title is missing.", "1: The description is missing."]],
  ["---\ntitle: 2026\ndescription: ''\n---\n", ["2: The title must be a text", "3: The description is empty."]],
  ["---\ntitle: A: B\ndescription: C\n---\n", ["2: Nested mappings are not allowed"]],
  [
    `---\nalso: /b\ntitle: ${"a".repeat(121)}\ndescription: B\n---\n`,
    ["3: The title is too long", '2: There is no "also"'],
  ],
  ["---\ntitle: A {total}\ndescription: B\n---\n", ['2: "{total}" is no known fact.']],
])("refuses the front matter %j", async (text, expected) => {
  const { lines } = await read({ "a.md": text });
  expect(lines).toEqual(expected.map((start) => expect.stringContaining(`a.md:${start}`)));
});

test.each([
  ["![A dot](pictures/none.png)", "5: There is no picture "],
  ["![A dot](broken.png)", "5: …/broken.png cannot be read as a picture."],
  ["![A dot](https://example.org/a.png)", "5: https://example.org/a.png is on another site"],
  ["# Again a title", "5: The title is the page's first heading. Start this one with ## instead of #."],
  ["## One\n\n#### Two", "7: The heading skips a level. Start it with ###."],
  ["Text\n\n[](/contact)", "7: The link to /contact has no text."],
  ["Text {1 + 1}", '5: "{1 + 1}" is no known fact. To show the character itself, write \\{ . The facts are: {brand} '],
  ["    {/* indented */}", "5: A page has no comments, because visitors would see them. Remove it."],
  ["\\\\{name}", '5: "{name}" is no known fact.'],
  ["<script>alert(1)</script>", "5: Write Markdown instead of <script>: a page has no HTML. To show"],
  ["A\n\nText <Chart.Bar", "7: Write Markdown instead of <Chart.Bar>"],
  ["<!-- A comment -->", "5: A page has no comments"],
])("refuses the text %j", async (text, expected) => {
  const { lines } = await read({ "a.md": MATTER + text, "broken.png": "not a picture" });
  expect(lines.length).toBeGreaterThan(0);
  for (const part of `a.md:${expected}`.split("…")) expect(lines[0]).toContain(part);
});

test("accepts signs that are no HTML, code, and facts in tables and links", async () => {
  const signs = "a < b, 1 <5, <https://example.org/{brand}>, <a@example.org>, \\<b> and &lt;b&gt;, `<b>`";
  const facts = "\\{brand} \\\\ {brand}\n\n| {governingLaw} |\n|---|\n| [x]({websiteUrl}/contact) |";
  expect((await read({ "a.md": `${MATTER}${signs}\n\n\`\`\`\n<div>\n\`\`\`\n\n${facts}` })).lines).toEqual([]);
});

test("names every place of a page of 1.1.0 that must change, with the problems of all other files", async () => {
  const { lines } = await read({
    "a.mdx": `${MATTER}H<sub>2</sub>O {/* a note */}\n\nWrite to <ContactEmail end="." />\n\n{/*\n\n<sup>2</sup> */}`,
    "b.md": "---\ntitle: B\n---\n\n{",
    "d.md": MATTER,
  });
  expect([...new Set(lines)]).toEqual([
    "a.mdx:1: Pages end in .md: rename it to a.md.",
    expect.stringMatching(/^a\.mdx:5: A page has no comments/),
    expect.stringMatching(/^a\.mdx:9: A page has no comments/),
    "a.mdx:5: Write the character itself, such as ₂ or ², instead of <sub>.",
    "a.mdx:7: Write {contactEmail} instead of <ContactEmail />, and punctuation after it.",
    "a.mdx:11: Write the character itself, such as ₂ or ², instead of <sup>.",
    expect.stringMatching(/^b\.md:1: The description is missing/),
    expect.stringMatching(/^b\.md:5: "\{" is no known fact/),
  ]);
});

test.each([
  ["Contact-us/index.md", "/Contact-us is already the address of a page of the site."],
  ["about/index.md", "/about is already the address of "],
  ["media.md", "/media is reserved for technical files."],
  ["healthz.md", "/healthz is reserved for technical files."],
  ["About Us.md", "/About Us cannot be an address. Rename the file: use letters"],
])("refuses the path of %s", async (name, problem) => {
  const { lines } = await read({ "about.md": MATTER, "contact/team.md": MATTER, "2026.md": MATTER, [name]: MATTER });
  expect(lines[0]).toContain(`${name}:1: ${problem}`);
});

const LINKED = { "b.md": `${MATTER}\n## Form\n\n## Main\n` };

test("accepts links to pages, headings, files and other sites", async () => {
  const hrefs = ["/contact/?a=1&b=2#form", "https://www.example.com/b#form", "/b#:~:text=words", "/b/#main", "#top"];
  hrefs.push("https://elsewhere.example/contact#no", "mailto:a@example.org", "tel:+441234", "/robots.txt");
  // Linked in the footer, but not written yet.
  hrefs.push("/careers");
  const links = hrefs.map((href) => `[x](${href})\n`);
  expect((await read({ "b.md": `${LINKED["b.md"]}\n${links.join("\n")}` })).lines).toEqual([]);
});

test.each([
  ["/nowhere", "leads to a page that does not exist. Correct it, or write the page."],
  ["/Contact", "leads to a page that does not exist."],
  ["/b#from", "leads to a heading that /b does not have. Its headings are: #form #main-section"],
  ["#from", "leads to a heading that /a does not have. It has no headings."],
  ["contact", "is relative, so it leads to different places on different pages. Start it with /, as in /contact"],
  ["ftp://elsewhere.example/", "has a scheme that pages cannot use."],
  ["https://www.example.com/nowhere", "leads to a page that does not exist."],
])("refuses a link to %s", async (href, expected) => {
  const { lines } = await read({ ...LINKED, "a.md": `${MATTER}\n[x](${href})` });
  expect(lines).toEqual([expect.stringContaining(`a.md:6: The link "${href}" ${expected}`)]);
});
