import { expect, it } from "vitest";
import { messageWith } from "../../tests/store-contract/samples.ts";
import { withoutPersonalData } from "./server-words.ts";

const MESSAGE = messageWith({
  name: "Ada Lovelace",
  email: "ada@example.com",
  phone: "+44 20 7946 0000",
  message: "Dear team,\nplease read my content at https://ada.example/offer and call me",
});

it.each([
  ["554 5.7.1 content refused", "5.7.1 content refused"],
  ["550-5.1.1 The account\r\n550 5.1.1 does not exist", "5.1.1 The account 5.1.1 does not exist"],
  ["550 <ada@example.com>: user ada unknown, mailto:ada@example.com", "… user … unknown, …"],
  ["550 mail of Mrs LOVELACE (+44 20 7946 0000) refused", "mail of Mrs … refused"],
  ['554 spam: "please read my content"', "spam: …"],
  ["554 blocked link https://ada.example/offer", "blocked link …"],
  ["554 \u001b[2Jno", "\\u{1b}[2Jno"],
  [`554 ${"x".repeat(300)}`, `${"x".repeat(200)}…`],
])("shows %j as %j", (response, shown) => {
  expect(withoutPersonalData(response, MESSAGE)).toBe(shown);
});
