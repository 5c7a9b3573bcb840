import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { contentsOf, elementsOf, textOf, textsOf } from "./support/html.ts";

const pageOf = (path: string) => readFileSync(`dist/site${path}/index.html`, "utf8");
const mainOf = (html: string) => contentsOf(html, "main")[0] ?? "";

/** What the specification says about each policy: the number of sections, and facts in them. */
const POLICIES = [
  {
    path: "/privacy",
    sections: 10,
    facts: `name, email, contact details, login information, payment information, communications, IP address,
      browser and device, operating system, usage, access, rectif, erase, restrict, object, portab, cookies, 18,
      [website URL], [last-updated date]`,
  },
  {
    path: "/terms",
    sections: 13,
    facts: "non-exclusive, worldwide licence, binding arbitration, [governing law], [arbitration body]",
  },
  {
    path: "/refund",
    sections: 4,
    facts: `Last updated 8th Nov 2024, No refund for any issue., signed up, final, change of mind, accidental purchase,
      dissatisfaction, technical issues beyond our control, does not guarantee a refund, hello@brightercarbon.example`,
  },
  {
    path: "/delivery",
    sections: 6,
    facts: `no physical, instant, 24 hours, log in, dashboard, purchased services, stable internet, up-to-date browser,
      99.9%, planned maintenance, hello@brightercarbon.example`,
  },
];

test.each(POLICIES)("$path has its numbered sections, and all facts of the specification", ({ path, ...policy }) => {
  const pane = contentsOf(pageOf(path), 'section class="text pane"')[0] ?? "";
  const numbers = textsOf(pane, "h2").map((title) => Number(/^(\d+)\. \w/.exec(title)?.[1]));
  expect(numbers).toEqual(Array.from({ length: policy.sections }, (_, index) => index + 1));
  const text = textOf(pane).toLowerCase();
  for (const fact of policy.facts.split(/,\s+/)) expect(text).toContain(fact.toLowerCase());
});

test("the hero has the texts of the specification", () => {
  const main = mainOf(pageOf(""));
  expect(textsOf(main, "h1")).toEqual([expect.stringContaining("net zero")]);
  for (const words of [
    "cost-effective carbon offsetting and renewable energy credits",
    "Support renewable power projects to help neutralise the carbon footprint you cannot cut yet.",
    "Carbon neutrality starts with cutting your own emissions.",
    "on their own they do not make a company or a product carbon neutral.",
  ])
    expect(textOf(main)).toContain(words);
});

test("Coming Soon has all its texts", () => {
  const main = mainOf(readFileSync("dist/site/404.html", "utf8"));
  expect(textsOf(main, "p")).toEqual([
    "Something amazing is on the way! Stay tuned.",
    "For more details, contact us at: hello@brightercarbon.example",
  ]);
  expect(elementsOf(main, "a")).toMatchObject([{ href: "mailto:hello@brightercarbon.example" }, { href: "/contact" }]);
});

test("the footer has the tagline, the company line, three columns and four named social links", () => {
  const footer = contentsOf(pageOf("/terms"), "footer")[0] ?? "";
  expect(textsOf(footer, "p")).toContain("Carbon Offsetting Made Easy");
  expect(textsOf(footer, "p")).toContain("This site is provided by Brighter Carbon Private Limited.");
  expect(footer).not.toMatch(/Company number|Registered address|placeholder/);
  const columns = contentsOf(footer, "nav").map((nav) => [
    ...textsOf(nav, "h2"),
    ...elementsOf(nav, "a").map(({ href }) => href),
  ]);
  expect(columns).toEqual([
    ["Company", "/about", "/careers", "/articles", "/partner"],
    ["Help and support", "/support", "/contact"],
    ["Legal", "/privacy", "/terms", "/cancellation", "/delivery"],
  ]);
  const social = elementsOf(contentsOf(footer, 'ul class="social"')[0] ?? "", "a");
  expect(social).toEqual(
    ["Facebook", "Twitter", "Instagram", "LinkedIn"].map((network) => ({ href: "/", "aria-label": network })),
  );
});
