import { expect, it } from "vitest";
import type { StoredMessage } from "../store/store.ts";
import { composeMail } from "./compose.ts";

const IDENTITY = { brand: "Brand", mailFrom: "site@example.test", mailTo: "team@example.test" };
const MESSAGE: StoredMessage = {
  id: "17",
  reference: "BC-7K3Q-9M",
  name: "Ada",
  email: "ada@example.org",
  phone: "1",
  country: "DE",
  message: "Hello",
  state: "queued",
  acceptedAt: new Date("2026-01-05T10:00:00Z"),
  stateChangedAt: new Date("2026-01-06T10:00:00Z"),
  dueAt: null,
  attempts: 3,
  lastError: null,
  isRestricted: false,
  answeredAt: null,
  quarantineReason: null,
  footprint: null,
  version: "1",
};

it("puts reference, name and country into the subject", () => {
  expect(composeMail(MESSAGE, IDENTITY).subject).toBe("[BC-7K3Q-9M] Message from Ada, Germany");
});

it("leaves a country out that was not given, and shows the code of one it does not know", () => {
  expect(composeMail({ ...MESSAGE, country: "" }, IDENTITY).subject).toBe("[BC-7K3Q-9M] Message from Ada");
  expect(composeMail({ ...MESSAGE, country: "" }, IDENTITY).text).toContain("\nCountry: not given\n");
  expect(composeMail({ ...MESSAGE, country: "QX" }, IDENTITY).subject).toBe("[BC-7K3Q-9M] Message from Ada, QX");
});

it("is dated when the message was accepted and has the same Message-ID at every attempt", () => {
  const [first, later] = [composeMail(MESSAGE, IDENTITY), composeMail({ ...MESSAGE, attempts: 9 }, IDENTITY)];
  expect(first.date).toEqual(MESSAGE.acceptedAt);
  expect(first.messageId).toBe("<BC-7K3Q-9M.17@example.test>");
  expect(later.messageId).toBe(first.messageId);
});

it("writes a Message-ID of safe characters whatever the sender's domain", () => {
  const messageId = (mailFrom: string) => composeMail(MESSAGE, { ...IDENTITY, mailFrom }).messageId;
  expect(messageId("site@bücher.example")).toBe("<BC-7K3Q-9M.17@xn--bcher-kva.example>");
  expect(messageId("site@exa mple>")).toBe("<BC-7K3Q-9M.17@localhost>");
});
