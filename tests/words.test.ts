import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { BuildManifest } from "../contract/build-manifest.ts";
import { contentsOf, elementsOf, textOf, textsOf } from "./support/html.ts";

const pageOf = (path: string) => readFileSync(`dist${path}/index.html`, "utf8");
const mainOf = (html: string) => contentsOf(html, "main")[0] ?? "";

const SECTIONS = {
  "/privacy": [
    "1. Introduction",
    "2. Information we collect",
    "3. How we use your information",
    "4. How we share your information",
    "5. Data security",
    "6. Your data protection rights",
    "7. Cookies",
    "8. Children",
    "9. Changes to this policy",
    "10. Contact us",
  ],
  "/terms": [
    "1. Acceptance of terms",
    "2. Changes to these terms",
    "3. Your account",
    "4. Your conduct",
    "5. Intellectual property",
    "6. Your content",
    "7. Termination",
    "8. Limitation of liability",
    "9. Disclaimer",
    "10. Governing law",
    "11. Dispute resolution",
    "12. Entire agreement",
    "13. Contact us",
  ],
  "/refund": ["1. No cancellations", "2. All sales are final", "3. No refunds", "4. Contacting support"],
  "/delivery": [
    "1. Online services only",
    "2. Digital delivery",
    "3. How to access your services",
    "4. Technical requirements",
    "5. Availability",
    "6. Support",
  ],
} as const;

/** Every fact that the specification names, as it must stand in the text. */
const FACTS = {
  "/privacy": [
    /\bname\b/i,
    /email/i,
    /contact details/i,
    /login information/i,
    /payment information/i,
    /communications/i,
    /IP address/,
    /browser and device/i,
    /operating system/i,
    /usage/i,
    /\baccess\b/i,
    /rectif/i,
    /\berase/i,
    /restrict/i,
    /\bobject\b/i,
    /portab/i,
    /cookies/i,
    /\b18\b/,
    "[website URL]",
    "[last-updated date]",
  ],
  "/terms": [/non-exclusive, worldwide licence/, /binding arbitration/, "[governing law]", "[arbitration body]"],
  "/refund": [
    "Last updated 8th Nov 2024",
    "No refund for any issue.",
    "Your rights under the law are not affected.",
    /signed up/,
    /final/,
    /change of mind/i,
    /accidental purchase/i,
    /dissatisfaction/i,
    /technical issues beyond our control/i,
    /does not guarantee a refund/,
    "hello@brightercarbon.example",
  ],
  "/delivery": [
    /no physical/i,
    /instant/i,
    /24 hours/,
    /log in/i,
    /dashboard/i,
    /purchased services/i,
    /stable internet/i,
    /up-to-date browser/i,
    /99\.9\s?%/,
    /planned maintenance/i,
    "hello@brightercarbon.example",
  ],
} as const;

describe("a policy", () => {
  const paneOf = (path: string) => contentsOf(pageOf(path), 'section class="pane"')[0] ?? "";

  test.each(Object.entries(SECTIONS))(
    "%s has its numbered sections, and contents that lead to them",
    (path, titles) => {
      const sections = [...paneOf(path).matchAll(/<h2 id="([^"]+)">([\s\S]*?)<\/h2>/g)];
      expect(sections.map(([, , title = ""]) => textOf(title))).toEqual(titles);
      const contents = contentsOf(pageOf(path), 'nav class="contents"')[0] ?? "";
      expect(textsOf(contents, "a")).toEqual(titles);
      expect(elementsOf(contents, "a").map(({ href }) => href)).toEqual(sections.map(([, id]) => `#${id}`));
    },
  );

  test.each(Object.entries(FACTS))("%s states every fact of the specification", (path, facts) => {
    const text = textOf(paneOf(path));
    for (const fact of facts) {
      if (typeof fact === "string") expect(text).toContain(fact);
      else expect(text).toMatch(fact);
    }
  });
});

test("the hero says what the specification asks", () => {
  const main = mainOf(pageOf(""));
  expect(textsOf(main, "h1")).toEqual([expect.stringContaining("net zero")]);
  for (const words of [
    "cost-effective carbon offsetting and renewable energy credits",
    "Support renewable power projects",
    "Support renewable power projects to help neutralise the carbon footprint you cannot cut yet.",
    "Carbon neutrality starts with cutting your own emissions.",
    "on their own they do not make a company or a product carbon neutral.",
  ])
    expect(textOf(main)).toContain(words);
});

test("Coming Soon says all its words", () => {
  const main = mainOf(readFileSync("dist/404.html", "utf8"));
  expect(textsOf(main, "p")).toEqual([
    "Something amazing is on the way! Stay tuned.",
    "For more details, contact us at: hello@brightercarbon.example",
  ]);
  expect(elementsOf(main, "a")).toMatchObject([{ href: "mailto:hello@brightercarbon.example" }, { href: "/contact" }]);
});

test("the footer holds the tagline, the company line, three columns and four named social links", () => {
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

test("CO₂ has a real subscript on every page", () => {
  const { files } = JSON.parse(readFileSync("dist.json", "utf8")) as BuildManifest;
  const pages = files.filter(({ kind }) => kind === "page").map(({ file }) => readFileSync(`dist/${file}`, "utf8"));
  expect(pages.some((html) => textOf(html).includes("CO₂e"))).toBe(true);
  // The name of a library has none.
  for (const html of pages) expect(textOf(html).replaceAll("CO2.js", "")).not.toContain("CO2");
});
