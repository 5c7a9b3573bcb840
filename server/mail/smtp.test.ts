import { expect, it } from "vitest";
import { type FailureKind, MailError } from "./mailer.ts";
import { classifySmtpError, createSmtpMailer } from "./smtp.ts";

const PLACE = "localhost:25";

it.each<[failure: Record<string, unknown>, kind: FailureKind, text: RegExp]>([
  [{ code: "EENVELOPE", responseCode: 450, command: "RCPT TO" }, "temporary", /^450 .*\(RCPT TO\)$/],
  [{ code: "EAUTH", responseCode: 454, command: "AUTH PLAIN" }, "temporary", /^454 /],
  [{ code: "EENVELOPE", responseCode: 503, command: "MAIL FROM" }, "temporary", /^503 /],
  [{ code: "EPROTOCOL", responseCode: 554, command: "CONN" }, "temporary", /^554 /],
  [
    { code: "ESOCKET", originalCode: "ECONNREFUSED", command: "CONN" },
    "temporary",
    /^the mail server at localhost:25 refuses connections$/,
  ],
  [{ code: "EDNS", originalCode: "ENOTFOUND" }, "temporary", /^the mail server at localhost:25 cannot be found: /],
  [{ code: "ETIMEDOUT", command: "CONN" }, "temporary", /^the mail server at localhost:25 does not answer$/],
  [{}, "temporary", /no code/],
  [{ code: "EMESSAGE", response: "zzz", command: "DATA" }, "temporary", /no usable answer/],
  [{ code: "EENVELOPE", responseCode: 550, command: "RCPT TO" }, "permanent", /^550 mailbox refused .*\(RCPT TO\)$/],
  [{ code: "EENVELOPE", responseCode: 553, command: "MAIL FROM" }, "permanent", /^553 sender refused/],
  [{ code: "EENVELOPE", responseCode: 554, command: "DATA" }, "permanent", /^554 mail refused/],
  [{ code: "EMESSAGE", command: "MAIL FROM" }, "permanent", /EMESSAGE/],
  [{ code: "EAUTH", responseCode: 535, command: "AUTH PLAIN" }, "blocked", /^535 .*SMTP_URL$/],
  [{ code: "EENVELOPE", responseCode: 530, command: "MAIL FROM" }, "blocked", /^530 /],
  [{ code: "EAUTH", command: "API" }, "blocked", /^the mail server refused the sign-in/],
  [{ code: "ETLS", responseCode: 502, command: "STARTTLS" }, "blocked", /ETLS/],
  [{ code: "ESOCKET", originalCode: "SELF_SIGNED_CERT_IN_CHAIN" }, "blocked", /SELF_SIGNED.*SMTP_URL/],
  [{ code: "ESOCKET", originalCode: "ERR_TLS_CERT_ALTNAME_INVALID" }, "blocked", /ALTNAME/],
])("classifies %j as %s", (failure, kind, text) => {
  const error = classifySmtpError(Object.assign(new Error("550 <ada@example.org> unknown"), failure), PLACE);
  expect(error).toBeInstanceOf(MailError);
  expect(error.kind).toBe(kind);
  expect(error.message).toMatch(text);
});

it("leaves the server's text and invalid codes out of the error message", () => {
  const error = Object.assign(new Error("<ada@example.org> unknown, password secret"), {
    code: "ada@example.org",
    originalCode: "secret",
    command: "AUTH PLAIN c2VjcmV0",
    responseCode: 550,
    response: "550 <ada@example.org> unknown",
  });
  const failure = classifySmtpError(error, PLACE);
  expect(failure.message).not.toMatch(/ada|secret|c2VjcmV0/);
  // What is stored for operators names no address either: it may be somebody else's than the message's.
  expect(failure.words).toBe("<address> unknown");
});

it("sends nothing after it was closed, because nobody could save that", async () => {
  const mailer = createSmtpMailer("smtp://127.0.0.1:1");
  await mailer.close();
  await expect(mailer.tryToSignIn()).rejects.toMatchObject({ kind: "temporary", message: "the website stops" });
});
