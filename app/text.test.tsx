import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { sectionsOf, Text } from "./text.tsx";

const FACTS = {
  brand: "[Evil](/x) <b> {legalName}",
  legalName: "A & B",
  contactEmail: "hello@brightercarbon.example",
  websiteUrl: "https://www.example.org",
  governingLaw: "[governing law]",
  correspondenceSystem: "",
};
const fileOf = (markdown: string) => ({ title: "", description: "", markdown, pictures: {} });
const htmlOf = (markdown: string, options = {}) =>
  renderToStaticMarkup(<Text file={fileOf(markdown)} facts={FACTS} {...options} />).replaceAll(/\n+/g, "\n");

test.each([
  ["Facts are text, never Markdown", "{brand}", "<p>[Evil](/x) &lt;b&gt; {legalName}</p>"],
  [
    "also in emphasis, code and headings",
    "## *{legalName}*\n\n`{legalName}`",
    '<h2 id="legalname"><em>A &amp; B</em></h2>\n<p><code>A &amp; B</code></p>',
  ],
  [
    "and in addresses, where they are encoded",
    "[{legalName}]({websiteUrl}/a?b={legalName})",
    '<p><a href="https://www.example.org/a?b=A%20%26%20B">A &amp; B</a></p>',
  ],
  ["A backslash shows the brace", "\\{brand} \\\\{legalName}", "<p>{brand} \\A &amp; B</p>"],
  ["An unset fact is marked", "By {governingLaw}.", '<p>By <mark class="placeholder">[governing law]</mark>.</p>'],
  [
    "The email address keeps the punctuation that follows",
    "To {contactEmail}, or not.",
    '<p>To <span class="email"><a href="mailto:hello@brightercarbon.example">hello@<wbr/>brightercarbon<wbr/>.example</a>,</span> or not.</p>',
  ],
  ["A paragraph with an empty fact disappears", "One\n\nIn {correspondenceSystem}.\n\nTwo", "<p>One</p>\n<p>Two</p>"],
  [
    "and so does a list item",
    "- One\n- In {correspondenceSystem}\n- By\n  - {correspondenceSystem}",
    "<ul>\n<li>One</li>\n<li>By\n</li>\n</ul>",
  ],
  [
    "A quotation with [!IMPORTANT] is a notice",
    "> [!IMPORTANT]\n> No.\n>\n> More.\n\n> Their words",
    '<div class="notice" role="note"><p>No.</p><p>More.</p></div>\n<blockquote>\n<p>Their words</p>\n</blockquote>',
  ],
  [
    "A table has a name and classes instead of styles",
    "## Sums\n\n| a |\n|--:|\n| 1 |",
    /<div class="table-box" role="group" aria-label="Table: Sums" tabindex="0"><table>.*<td class="align-right">1<\/td>/s,
  ],
  ["No id is that of another part of the page", "## Main\n\n## Main", /id="main-section".*id="main-1"/s],
])("%s", (_, markdown, html) => {
  if (typeof html === "string") expect(htmlOf(markdown)).toBe(html);
  else expect(htmlOf(markdown)).toMatch(html);
});

test("sections have numbers only in policies, and ids without them; headings link to themselves on pages", () => {
  const file = fileOf("## Your *own* data\n\n### Smaller\n\n## With [a link](/x)\n\n## Your own data\n");
  expect(sectionsOf(file, FACTS)).toEqual([
    { id: "your-own-data", title: "Your own data" },
    { id: "with-a-link", title: "With a link" },
    { id: "your-own-data-1", title: "Your own data" },
  ]);
  expect(sectionsOf(file, FACTS, { isNumbered: true }).map(({ title }) => title)[1]).toBe("2. With a link");
  const html = htmlOf(file.markdown, { isNumbered: true, hasAnchors: true });
  expect(html).toContain(
    '<h2 id="your-own-data"><a class="anchor" href="#your-own-data">1. Your <em>own</em> data</a></h2>',
  );
  expect(html).toContain('<h2 id="with-a-link">2. With <a href="/x">a link</a></h2>');
});
