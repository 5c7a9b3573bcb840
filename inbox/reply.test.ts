import { expect, test } from "vitest";
import { replyHref } from "./reply.ts";

const MESSAGE = { email: "ada@example.com", reference: "BC-7K3Q-9M", message: "Hello,\nhow much?" };

test("quotes the message and names the reference", () => {
  const url = new URL(replyHref(MESSAGE));
  expect(url.pathname).toBe("ada@example.com");
  expect(url.searchParams.get("subject")).toBe("Re: [BC-7K3Q-9M]");
  expect(url.searchParams.get("body")).toBe("\r\n\r\n> Hello,\r\n> how much?");
});

test("an address cannot add recipients, a subject or text", () => {
  const url = new URL(replyHref({ ...MESSAGE, email: "a?bcc=eve&body=x%0a/#@example.com" }));
  expect(decodeURIComponent(url.pathname)).toBe("a?bcc=eve&body=x%0a/#@example.com");
  expect([...url.searchParams.keys()]).toEqual(["subject", "body"]);
  expect(url.hash).toBe("");
});

test("hidden characters are shown in the quotation", () => {
  expect(new URL(replyHref({ ...MESSAGE, message: "txt.\u202Eexe" })).searchParams.get("body")).toContain("\\u{202e}");
});

test.each(["word ".repeat(1000), "字".repeat(5000), "👩‍🔬".repeat(1000)])(
  "a long message is cut, between characters",
  (message) => {
    const href = replyHref({ ...MESSAGE, message });
    expect(href.length).toBeLessThanOrEqual(1900);
    const body = new URL(href).searchParams.get("body") ?? "";
    expect(body.endsWith("\r\n> […]")).toBe(true);
    expect(body.isWellFormed()).toBe(true);
  },
);
