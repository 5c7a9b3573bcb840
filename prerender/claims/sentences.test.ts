import { expect, test } from "vitest";
import { blocksOfHtml, blocksOfText, hashOf, sentencesOf } from "./sentences.ts";

const sentences = (html: string) => sentencesOf(blocksOfHtml(html)).map(({ text }) => text);
const claimable = (html: string) => sentencesOf(blocksOfHtml(html)).map(({ unquoted }) => unquoted);

test("a sentence split over elements is one sentence", () => {
  expect(
    sentences('<p>We are <b>car</b>bon<br/><a href="/x">neutral</a><!-- -->, <span>all</span> of us.</p>'),
  ).toEqual(["We are carbon neutral, all of us."]);
});

test("an icon does not split a sentence", () => {
  expect(sentences('<p>We <svg viewBox="0 0 1 1"><g><path d="M0 0"/></g></svg>count.</p>')).toEqual(["We count."]);
});

test("the end of a block ends a sentence", () => {
  expect(sentences("<div>One<p>two</p>three<ul><li>four</li><li>five</li></ul></div><h2>six</h2>seven")).toEqual([
    "One",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
  ]);
});

test("a point ends a sentence, an abbreviation does not", () => {
  expect(sentences("<p>We say no. We are in India, e.g. Pune. It costs approx. 5 pounds. Ask!</p>")).toEqual([
    "We say no.",
    "We are in India, e.g. Pune.",
    "It costs approx. 5 pounds.",
    "Ask!",
  ]);
});

test("what looks the same is the same", () => {
  const variants = [
    "CO₂-neutral",
    "CO<sub>2</sub>‑neutral",
    "CO2&#8209;neutral",
    "CO2-neu&shy;tral",
    "CO2\u2010neutral",
  ];
  for (const variant of variants)
    expect(sentences(`<p>${variant}&nbsp; &amp; &quot;x&#x27;s&quot;</p>`)).toEqual([`CO2-neutral & "x's"`]);
});

test("the hash ignores case, spaces and kinds of hyphens, and nothing else", () => {
  expect(hashOf("Carbon‑neutral  hosting")).toBe(hashOf("carbon-neutral hosting"));
  expect(hashOf("Carbon-neutral hosting.")).not.toBe(hashOf("carbon-neutral hosting"));
  expect(hashOf("We are here.")).toMatch(/^[\da-f]{16}$/);
});

test("reads titles, descriptions, alt texts and labels, and no scripts or styles", () => {
  const html = `<!DOCTYPE html><html><head><title>The title</title>
    <meta name="description" content="The description"/><meta property="og:image:alt" content="A card"/>
    <meta name="viewport" content="width"/><style>p{a:"b"}</style></head><body>
    <img src="x.jpg" alt="An alt text"/><button aria-label="A label">A button</button>
    <noscript><p>Without script</p></noscript><template><p>no</p></template>
    <script>const html = "<p>no</p>";</script><p>After</p></body></html>`;
  expect(blocksOfHtml(html).map(({ part, text }) => [part, text.trim()])).toEqual([
    ["title", "The title"],
    ["description", "The description"],
    ["description", "A card"],
    ["alt text", "An alt text"],
    ["label", "A label"],
    ["text", "A button"],
    ["text", "Without script"],
    ["text", "After"],
  ]);
});

test.each([
  "<blockquote><p>carbon neutral. Really.</p></blockquote>",
  "<p><q>carbon neutral</q></p>",
  "<p>“carbon neutral. Really.”</p>",
  "<p>‘carbon neutral’</p>",
  "<p>«carbon neutral»</p>",
  '<p>"carbon neutral"</p>',
  "<p>'carbon neutral'</p>",
])("%s is a quotation", (html) => {
  expect(claimable(html)).toHaveLength(1);
  expect(claimable(html)[0]).toMatch(/^\uFFFC+$/);
});

test("apostrophes and a single quotation mark quote nothing", () => {
  const text = `We don't sell customers' data, it's theirs. A 27" screen is big.`;
  expect(claimable(`<p>${text}</p>`).join(" ")).toBe(text);
});

test("a word in quotation marks that says what we are is no quotation", () => {
  expect(claimable("<p>We are “carbon neutral”.</p>")).toEqual(["We are carbon neutral ."]);
  expect(claimable("<p>The words “carbon neutral” are gone.</p>")[0]).not.toContain("carbon");
});

test("links are known with their words, and a heading is read with what follows it", () => {
  const html = '<h2>Our goal</h2><p>See <a href="/plan?a=1&amp;b=2">the <b>plan</b></a>.</p><p>More</p>';
  const [heading, paragraph, more] = sentencesOf(blocksOfHtml(html));
  const links = [{ href: "/plan?a=1&b=2", text: "the plan" }];
  expect(heading?.context).toEqual({ text: "Our goal See the plan.", links });
  expect(paragraph?.context.links).toEqual(links);
  expect(more?.context.links).toEqual([]);
});

test("an empty line ends a block of plain text", () => {
  expect(blocksOfText("One\nline.\n\nTwo.", "mail").map(({ text }) => text)).toEqual(["One line.", "Two."]);
});
