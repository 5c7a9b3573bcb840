// What Orca says to a visitor who uses Firefox.
import { expect } from "@playwright/test";
import { VISITOR } from "../../support/contact.ts";
import { startScreenReader } from "../../support/engines/orca.ts";
import { startGate } from "../../support/gate.ts";
import { requirePrograms } from "../../support/require-program.ts";
import { test } from "../../support/site.ts";

test("Orca reads the contact form and its outcomes: empty, broken, sent", async ({ site }) => {
  test.setTimeout(300_000);
  requirePrograms((reason) => test.skip(true, reason) as never, "orca");
  const gate = await startGate(site.url);
  const { page, hear, press, type, transcript, close } = await startScreenReader(gate.url);
  try {
    await page.open("/contact");
    await hear("Finished loading Contact us");
    await page.until(() => document.querySelectorAll("#country option").length > 200);
    await page.evaluate(() => document.querySelector<HTMLElement>("button[type=submit]")?.focus());
    await hear("Submit push button.");
    expect(transcript().filter((text) => text.includes("invalid"))).toEqual([]);
    await press("Return");
    await hear("There are 4 problems", "Enter your name.", "Enter your email address.", "Enter your phone number.");
    await hear("Enter your message.");
    await press("Tab");
    await hear("Enter your name. link.");
    await press("Return");
    for (const [said, text] of [
      ["Name entry required.", VISITOR.name],
      ["Email entry required.", VISITOR.email],
      ["Phone Number entry required.", VISITOR.phone],
      ["Country combo box.", ""],
      ["Message entry required.", "Hello"],
    ] as const) {
      await hear(said);
      await type(text);
      await press("Tab");
    }
    await hear("Submit push button.");

    gate.leadTo("http://127.0.0.1:9");
    await press("Return");
    await hear(
      "An error occurred while sending your message. We cannot tell whether it arrived. Press Submit again: it will not be sent twice.",
    );
    gate.leadTo(site.url);
    const letGo = gate.hold(/\/send-email$/);
    await press("Return");
    await hear("Sending…");
    letGo();
    await hear(/^Message sent successfully! Your reference is BC-\w{4}-\w{2}\./);
    const announced = transcript().filter((text) => /^(An error|Message sent)/.test(text));
    expect(announced, "each once").toHaveLength(2);
  } finally {
    await close();
    await gate.close();
  }
});
