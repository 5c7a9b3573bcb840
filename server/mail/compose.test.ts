import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { estimateNotes } from "../../contract/footprint/words.ts";
import { estimateOf, storedWith } from "../../tests/store-contract/samples.ts";
import { parseMail } from "../../tests/support/parse-mail.ts";
import { IDENTITY as OFFICE_IDENTITY } from "../../tests/support/post-office.ts";
import { makeScratchFolder } from "../../tests/support/scratch-folder.ts";
import { composeAcknowledgement, composeMail } from "./compose.ts";
import { createEmlMailer } from "./eml.ts";

const IDENTITY = { ...OFFICE_IDENTITY, brand: "Brand", mailFrom: "site@example.test" };
const WORDS = { name: "Ada", email: "ada@example.org", phone: "1", country: "DE", message: "Hello" };
const MESSAGE = storedWith({ ...WORDS, acceptedAt: new Date("2026-01-05T10:00:00Z") });

it("the subject has reference, name and country: nothing if it is empty, and the code if it is unknown", () => {
  expect(composeMail(MESSAGE, IDENTITY).subject).toBe("[BC-7K3Q-9M] Message from Ada, Germany");
  expect(composeMail({ ...MESSAGE, country: "" }, IDENTITY).subject).toBe("[BC-7K3Q-9M] Message from Ada");
  expect(composeMail({ ...MESSAGE, country: "" }, IDENTITY).text).toContain("\nCountry: not given\n");
  expect(composeMail({ ...MESSAGE, country: "QX" }, IDENTITY).subject).toBe("[BC-7K3Q-9M] Message from Ada, QX");
});

it("is dated when the message was accepted and has the same safe Message-ID at every attempt", () => {
  const messageId = (mailFrom: string) => composeMail(MESSAGE, { ...IDENTITY, mailFrom }).messageId;
  for (const version of ["1", "9"]) {
    const { date, messageId } = composeMail({ ...MESSAGE, version }, IDENTITY);
    expect([date, messageId]).toEqual([MESSAGE.acceptedAt, "<BC-7K3Q-9M.17@example.test>"]);
  }
  expect(messageId("site@bücher.example")).toBe("<BC-7K3Q-9M.17@xn--bcher-kva.example>");
  expect(messageId("site@exa mple>")).toBe("<BC-7K3Q-9M.17@localhost>");
});

it("writes exactly this mail for a message without an estimate", () => {
  expect(composeMail(MESSAGE, IDENTITY).text).toBe(
    "Ada wrote through the contact form of Brand.\nReply to this email to answer Ada.\n\nReference: BC-7K3Q-9M\n" +
      "Received: 2026-01-05 10:00:00 UTC\nName: Ada\nEmail: ada@example.org\nPhone: 1\nCountry: Germany (DE)\n\n" +
      "Message:\n\nHello",
  );
});

it("writes an estimate before the visitor's words: inputs, total, factors, and that it is no certificate", () => {
  const inputs = { electricityKwh: 3000, carKm: 10_000, longFlights: 1, hotelNights: 2, gasKwh: 0 };
  const footprint = estimateOf({ ...inputs, for: "organisation", people: 40 }, "");
  const { text } = composeMail({ ...MESSAGE, footprint }, IDENTITY);
  const summary =
    /^With an estimate: about 5\.4 t CO₂e a year \(from 3\.8 t to 7\.\d t\), for an organisation of 40 people: about 140 kg for each person\.$/;
  expect(String(text).split("\n")[2]).toMatch(summary);
  expect(text).toContain(
    [
      "Country: Germany (DE)",
      "",
      "Footprint estimate: about 5.4 t CO₂e a year",
      "Electricity: 3,000 kWh (1.4 t)",
      "Car: 10,000 km, petrol (2.1 t)",
      "Long return flights: 1 flight of 6,500 km each way, economy (1.8 t)",
      "Hotel: 2 nights (79 kg)",
      ...estimateNotes(footprint, null),
      "",
      "Message:",
      "",
      "Hello",
    ].join("\n"),
  );
});

it("shows the cost of an estimate only if the company has set a price, and none without emissions", () => {
  const footprint = estimateOf({ gasKwh: 10_000 });
  const pricePerTonne = { amount: 25, currency: "EUR" };
  const line = "Credits for 2.1 t cost about 53 EUR. They do not change what you emit.";
  expect(composeMail({ ...MESSAGE, footprint }, { ...IDENTITY, pricePerTonne }).text).toContain(`\n${line}\n`);
  expect(composeMail({ ...MESSAGE, footprint }, { ...IDENTITY, pricePerTonne: null }).text).not.toContain("Credits");
  const nothing = estimateOf({ gasKwh: 0 });
  expect(composeMail({ ...MESSAGE, footprint: nothing }, { ...IDENTITY, pricePerTonne }).text).not.toContain("Credits");
});

describe("an acknowledgement", () => {
  const EVIL = { name: "EVIL", phone: "EVIL", country: "EVIL", message: "EVIL" };
  const CLAIM = { ...EVIL, id: 17, reference: "BC-7K3Q-9M", email: "Ada+1@example.org" };

  async function written(brand = "Brand & Söhne", own?: { subject: string; body: string }) {
    const dataDir = await makeScratchFolder();
    const mails = own ? { ...IDENTITY.mails, acknowledgement: own } : IDENTITY.mails;
    const mail = composeAcknowledgement(CLAIM, { ...IDENTITY, brand, facts: { brand }, mails }, MESSAGE.acceptedAt);
    await createEmlMailer(dataDir).send(mail);
    const file = join(dataDir, "outbox", "BC-7K3Q-9M.acknowledgement.eml");
    return { mail, parsed: parseMail(await readFile(file)) };
  }

  it("is plain text to one address, with the reference, the next steps and no other visitor data", async () => {
    const { parsed, mail } = await written();
    expect(mail.envelope).toEqual({ from: "", to: ["Ada+1@example.org"] });
    expect(parsed.mailbox("To")).toEqual({ name: "", address: "Ada+1@example.org" });
    expect(parsed.mailbox("From")).toEqual({ name: "Brand & Söhne", address: "site@example.test" });
    expect(parsed.mailbox("Reply-To")).toEqual({ name: "", address: "hello@example.test" });
    expect(parsed.header("Subject")).toBe("Your message (BC-7K3Q-9M)");
    expect(parsed.header("Message-ID")).toBe("<BC-7K3Q-9M.17.ack@example.test>");
    expect([parsed.header("Auto-Submitted"), parsed.header("X-Auto-Response-Suppress")]).toEqual([
      "auto-replied",
      "All",
    ]);
    expect(parsed.text).toMatch(/^Thank you for writing to Brand & Söhne\.\n\n.*BC-7K3Q-9M.*\n\nWhat happens next: /);
    expect(parsed.text).not.toMatch(/[{}]/);
    expect(JSON.stringify([parsed.headers, parsed.text])).not.toContain("EVIL");
    expect(parsed.text).not.toContain("Ada");
  });

  it("fills the placeholders of the operator's own text, and changes nothing else in it", async () => {
    const text = { subject: "{brand}: {reference}", body: "{reference} {name} $& {brand} <b>\n.\nend" };
    const { parsed } = await written("{reference}", text);
    expect(parsed.header("Subject")).toBe("{reference}: BC-7K3Q-9M");
    expect(parsed.text).toBe("BC-7K3Q-9M {name} $& {reference} <b>\n.\nend");
  });
});
