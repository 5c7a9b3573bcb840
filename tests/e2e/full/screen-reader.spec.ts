// What Orca says to a visitor who uses Firefox.
import { writeFile } from "node:fs/promises";
import { expect } from "@playwright/test";
import { startServer } from "../../../scripts/run-server.ts";
import { VISITOR } from "../../support/contact.ts";
import { type ScreenReader, startScreenReader } from "../../support/engines/orca.ts";
import { type Gate, startGate } from "../../support/gate.ts";
import { requirePrograms } from "../../support/require-program.ts";
import { test } from "../../support/site.ts";

/** The test's results contain all utterances in this file, because they are too long to print. */
const TRANSCRIPT = "transcript.txt";

test("Orca reads every state of the contact form: loaded, empty, corrected, broken, sent, limited, estimated", async () => {
  test.setTimeout(300_000);
  requirePrograms((reason) => test.skip(true, reason) as never, "orca");
  const server = await startServer({ RATE_LIMIT: "1/10m" });
  const gate = await startGate(server.url);
  const reader = await startScreenReader(gate.url);
  try {
    await hearEmptyForm(reader);
    await correct(reader);
    await hearOutcomes(reader, gate, server.url);
    await hearEstimate(reader);
  } finally {
    await writeFile(test.info().outputPath(TRANSCRIPT), reader.transcript().join("\n"));
    await reader.close();
    await gate.close();
    await server.stop();
  }
});

async function hearEmptyForm({ page, hear, press, transcript }: ScreenReader): Promise<void> {
  await page.open("/contact");
  await hear("Finished loading Contact us");
  await page.until(() => document.querySelectorAll("#country option").length > 200);
  await page.evaluate(() => document.querySelector<HTMLElement>("#name")?.focus());
  await hear("Name entry required.");
  for (const said of [
    "Email entry",
    "Phone Number entry",
    "Country combo box.",
    "Message entry",
    "Submit push button.",
  ]) {
    await press("Tab");
    await hear(said.replace(/entry$/, "entry required."));
  }
  expect(transcript().filter((text) => text.includes("invalid"))).toEqual([]);
  await press("Return");
  await hear("There are 4 problems", "Enter your name.", "Enter your email address.", "Enter your phone number.");
  await hear("Enter your message.");
}

/** Corrects all fields by keyboard, from the list of problems to the submit button. */
async function correct({ hear, press, type }: ScreenReader): Promise<void> {
  await press("Tab");
  await hear("Enter your name. link.");
  await press("Return");
  await hear("Name entry required.", "Enter your name.");
  await type(VISITOR.name);
  await press("Tab");
  await hear("Email entry required.", "Enter your email address.");
  await type("ada@gmail");
  await press("Tab");
  await hear("Did you mean ada@gmail.com? A button to use this address follows.");
  await press("shift+Tab");
  await hear("Use this address push button");
  await press("Return");
  await hear("Email entry ada@gmail.com");
  await press("Tab");
  await hear("Phone Number entry required.", "Enter your phone number.");
  await type(VISITOR.phone);
  await press("Tab", "Tab");
  await hear("Message entry required.", "Enter your message.");
  await type("Hello");
  await press("Tab");
  await hear("Submit push button.");
}

async function hearOutcomes({ hear, press, type, transcript }: ScreenReader, gate: Gate, siteUrl: string) {
  gate.leadTo("http://127.0.0.1:9");
  await press("Return");
  await hear(
    "An error occurred while sending your message. We cannot tell whether it arrived. Press Submit again: it will not be sent twice.",
  );
  gate.leadTo(siteUrl);
  const letGo = gate.hold(/\/send-email$/);
  await press("Return");
  await hear("Sending…");
  letGo();
  await hear(
    /^Message sent successfully! Your reference is BC-\w{4}-\w{2}\. We will answer to .+\. If you write again, give this reference\.$/,
  );
  await press("Tab");
  await hear("Copy the reference push button");
  await press("Tab");
  await hear(/^Send another message visited link/);
  await press("Return");
  await hear("Send us a Message");
  await press("Tab");
  await hear("Name entry required.");
  await type(VISITOR.name);
  await press("Tab");
  await hear("Email entry required.");
  await type(VISITOR.email);
  await press("Tab");
  await hear("Phone Number entry required.");
  await type(VISITOR.phone);
  await press("Tab", "Tab");
  await hear("Message entry required.");
  await type("Hello");
  await press("Tab");
  await hear("Submit push button.");
  await press("Return");
  await hear(
    /^Failed to send message\. You have sent several messages already\. Please try again in (9|10) minutes\. Nothing you typed is lost\.$/,
  );
  const announced = transcript().filter((text) => /^(Did you mean|An error|Message sent|Failed)/.test(text));
  expect(announced, "each once").toHaveLength(4);
}

async function hearEstimate({ page, hear, press, type }: ScreenReader): Promise<void> {
  await page.open("/contact#footprint");
  await page.evaluate(() => document.querySelector<HTMLElement>('[id="footprint.electricityKwh"]')?.focus());
  await hear("Home energy panel.", /^Electricity/);
  await type("3000");
  await hear(/^Your estimate: about .+ a year$/);
  await page.evaluate(() => document.querySelector<HTMLElement>('[id="footprint.shortFlights"]')?.focus());
  await hear("Short return flights entry.", "Short flights are up to about 3,700 km one way.");
  await page.evaluate(() => document.querySelector<HTMLElement>(".footprint-actions a")?.focus());
  await hear(/^Continue to your message link/);
  await press("Return");
  await hear(/Send us a Message Your estimate is included: about .+ a year\./);
  await press("Tab");
  await hear(/^Edit the estimate push button/);
}
