import { expect, test } from "vitest";
import { replyTo } from "./reply.ts";

const MESSAGE = { email: "ada@example.com", reference: "BC-7K3Q-9M", message: "Hello,\nhow much?" };
const LINUX = "Mozilla/5.0 (X11; Linux x86_64)";
const WINDOWS = "Mozilla/5.0 (Windows NT 10.0; Win64; x64)";

function parts(message: Partial<typeof MESSAGE> = {}, userAgent = LINUX) {
  const { href, text, isCut } = replyTo({ ...MESSAGE, ...message }, userAgent);
  const url = new URL(href);
  const [subject, body] = [url.searchParams.get("subject") ?? "", url.searchParams.get("body") ?? ""];
  return { url, href, subject, body, text, isCut };
}

test("quotes the message; the subject has its first words and the reference", () => {
  const { url, subject, body, text, isCut } = parts();
  expect(url.pathname).toBe("ada@example.com");
  expect(subject).toBe("Re: Hello, how much? [BC-7K3Q-9M]");
  expect(body).toBe("\r\n\r\n> Hello,\r\n> how much?");
  expect(text).toBe("\n\n> Hello,\n> how much?");
  expect(isCut).toBe(false);
});

test("a long subject ends after a word", () => {
  const { subject } = parts({ message: `We would like to offset ${"all of ".repeat(20)}` });
  expect(subject).toBe("Re: We would like to offset all of all of all of all … [BC-7K3Q-9M]");
});

test("an address cannot add recipients, a subject or text", () => {
  const { url } = parts({ email: "a?bcc=eve&body=x%0a/#@example.com" });
  expect(decodeURIComponent(url.pathname)).toBe("a?bcc=eve&body=x%0a/#@example.com");
  expect([...url.searchParams.keys()]).toEqual(["subject", "body"]);
  expect(url.hash).toBe("");
});

test("hidden characters are shown in the quotation and the subject", () => {
  const { subject, body } = parts({ message: "txt.\u202Eexe\r\nBcc: eve@example.com" });
  expect(body).toContain("\\u{202e}");
  expect(subject).toContain("\\u{202e}");
  expect(subject).not.toMatch(/[\r\n]/);
});

test.each(["word ".repeat(1000), "字".repeat(5000), "👩‍🔬".repeat(1000)])(
  "a long message is whole where the mail program can take it; on Windows it is cut, between characters",
  (message) => {
    expect(parts({ message })).toMatchObject({ isCut: false });
    expect(parts({ message }).body.replaceAll("\r\n", "\n")).toBe(`\n\n> ${message}`);
    const { href, body, text, isCut } = parts({ message }, WINDOWS);
    expect(isCut).toBe(true);
    expect(href.length).toBeLessThanOrEqual(1900);
    expect(body.endsWith("\r\n> […]")).toBe(true);
    expect(body.isWellFormed()).toBe(true);
    expect(text).toBe(`\n\n> ${message}`);
  },
);
