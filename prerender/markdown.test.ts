import { expect, test } from "vitest";
import { compileText } from "./markdown.ts";

test.each([
  [true, ["1. Your own data & rights", "2. Contact us"]],
  [false, ["Your own data & rights", "Contact us"]],
])("gives the headings ids and exports them in order; numbered: %s", async (areNumbered, [first, second]) => {
  const text = "Intro\n\n## Your *own* data & rights\n\nText\n\n### Smaller\n\n## Contact us\n";
  const code = await compileText(text, "text.mdx", areNumbered);
  const [, json = ""] = /export const sections = (.*);/.exec(code) ?? [];
  expect(JSON.parse(json)).toEqual([
    { id: "your-own-data-rights", title: first },
    { id: "contact-us", title: second },
  ]);
  expect(code).toContain('id: "contact-us"');
  expect(code).toContain(`"${areNumbered ? "1. " : ""}Your "`);
});
