import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { site } from "../../app/site.ts";
import { parseMail } from "../../tests/support/parse-mail.ts";
import { makeScratchFolder } from "../../tests/support/scratch-folder.ts";
import { composeAcknowledgement } from "./acknowledgement.ts";
import { createEmlMailer, tidyEmls } from "./eml.ts";

const NOW = new Date("2026-01-05T10:00:00Z");
const CLAIM = { id: 17, reference: "BC-7K3Q-9M", email: "Ada+1@example.org" };
const IDENTITY = { brand: "Brand & Söhne", mailFrom: "site@example.test" };

async function written(change: { claim?: object; identity?: object; text?: { subject: string; body: string } } = {}) {
  const dataDir = await makeScratchFolder();
  const settings = { text: change.text ?? site.acknowledgement, replyTo: "hello@example.test" };
  const mail = composeAcknowledgement(
    { ...CLAIM, ...change.claim },
    { ...IDENTITY, ...change.identity },
    settings,
    NOW,
  );
  await createEmlMailer(dataDir).send(mail);
  const file = join(dataDir, "outbox", "BC-7K3Q-9M.acknowledgement.eml");
  return { dataDir, mail, parsed: parseMail(await readFile(file)) };
}

it("is one plain text to one address, with the reference and what happens next", async () => {
  const { parsed, mail } = await written();
  expect(mail.envelope).toEqual({ from: "", to: ["Ada+1@example.org"] });
  expect(parsed.mailbox("To")).toEqual({ name: "", address: "Ada+1@example.org" });
  expect(parsed.mailbox("From")).toEqual({ name: "Brand & Söhne", address: "site@example.test" });
  expect(parsed.mailbox("Reply-To")).toEqual({ name: "", address: "hello@example.test" });
  expect(parsed.header("Subject")).toBe("We have received your message (BC-7K3Q-9M)");
  expect(parsed.text).toMatch(/^Thank you for writing to Brand & Söhne\.\n\n.*BC-7K3Q-9M.*\n\nWhat happens next: /);
  expect(parsed.text).not.toMatch(/[{}]/);
  expect(parsed.html).toBe("");
});

it("is marked as an automatic answer, and has nothing else that could start or join a conversation", async () => {
  const { parsed } = await written();
  expect(parsed.headers.map(([name]) => name.toLowerCase()).sort()).toEqual([
    "auto-submitted",
    "content-transfer-encoding",
    "content-type",
    "date",
    "from",
    "message-id",
    "mime-version",
    "reply-to",
    "subject",
    "to",
    "x-auto-response-suppress",
  ]);
  expect(parsed.header("Auto-Submitted")).toBe("auto-replied");
  expect(parsed.header("X-Auto-Response-Suppress")).toBe("All");
  expect(parsed.header("Message-ID")).toBe("<BC-7K3Q-9M.17.ack@example.test>");
});

it("holds nothing of a visitor's but the address, whatever else it is given", async () => {
  const visitor = { name: "EVIL", phone: "EVIL", country: "EVIL", message: "EVIL" };
  const { parsed } = await written({ claim: visitor });
  expect(JSON.stringify([parsed.headers, parsed.text])).not.toContain("EVIL");
});

it("fills in a text of the operator's own, and leaves all else in it alone", async () => {
  const text = { subject: "{brand}: {reference}", body: "{reference} {name} $& {brand} <b>\n.\nend" };
  const { parsed } = await written({ text, identity: { brand: "{reference}" } });
  expect(parsed.header("Subject")).toBe("{reference}: BC-7K3Q-9M");
  expect(parsed.text).toBe("BC-7K3Q-9M {name} $& {reference} <b>\n.\nend");
});

it("is a file of its own beside the message's, and goes with the message", async () => {
  const { dataDir } = await written();
  const folder = join(dataDir, "outbox");
  expect(await readdir(folder)).toEqual(["BC-7K3Q-9M.acknowledgement.eml"]);
  const [all, none] = [async (references: readonly string[]) => [...references], async () => []];
  await tidyEmls(dataDir, { existingReferences: all, erasedReferences: none });
  expect(await readdir(folder)).toEqual(["BC-7K3Q-9M.acknowledgement.eml"]);
  await tidyEmls(dataDir, { existingReferences: none, erasedReferences: all });
  expect(await readdir(folder)).toEqual([]);
});
