import { compile } from "@mdx-js/mdx";
import { expect, test } from "vitest";
import { mdxSections } from "./mdx-sections.ts";

test("numbers the headings, gives them ids and exports them in order", async () => {
  const text = "Intro\n\n## Your *own* data & rights\n\nText\n\n### Smaller\n\n## Contact us\n";
  const code = String(await compile(text, { remarkPlugins: [mdxSections] }));
  const [, json = ""] = /export const sections = JSON\.parse\((".*")\)/.exec(code) ?? [];
  expect(JSON.parse(JSON.parse(json))).toEqual([
    { id: "your-own-data-rights", title: "1. Your own data & rights" },
    { id: "contact-us", title: "2. Contact us" },
  ]);
  expect(code).toContain('id: "contact-us"');
  expect(code).toContain('"1. "');
});
