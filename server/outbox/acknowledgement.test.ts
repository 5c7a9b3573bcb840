import { expect, test } from "vitest";
import { isReadByPerson, mailboxOf } from "./acknowledgement.ts";

test.each([
  ["ADA@Example.ORG", "ada@example.org"],
  ["ada+list@example.org", "ada@example.org"],
  ["a.d.a+x+y@example.org", "ada@example.org"],
  ["A.d.a@GoogleMail.com", "ada@gmail.com"],
  ["JOSÉ@Bücher.example", "josé@xn--bcher-kva.example"],
])("%s has the mailbox %s", (spelling, mailbox) => {
  expect(mailboxOf(spelling)).toBe(mailbox);
});

test("distinguishes mailboxes by name and by domain", () => {
  const mailboxes = ["ada@example.org", "bob@example.org", "ada@mail.example.org", "ada@example.com"].map(mailboxOf);
  expect(new Set(mailboxes).size).toBe(4);
});

const PEOPLE = `
  ada@example.org ada.lovelace+site@mail.example.co.uk o'neil_1@example.org ada@xn--bcher-kva.example
  ada@example.xn--p1ai reply@example.org requests@example.org r&d@example.org _ada-1@example.org
  josé@example.org 用户@xn--fsqu00a.example devel@lists.example.org`;

test.each(PEOPLE.trim().split(/\s+/))("%s may get an acknowledgement", (address) => {
  expect(isReadByPerson(address)).toBe(true);
});

const PROGRAMS_AND_LISTS = `
  no-reply@example.org NoReply@example.org no_reply+1@example.org do-not-reply@example.org donotreply@example.org
  MAILER-DAEMON@example.org postmaster@example.org abuse@example.org root@example.org bounces+17@example.org
  owner-list@example.org list-request@example.org list.request@example.org n.o.r.e.p.l.y@example.org
  n-o_r.eply+1@example.org`;
/** A mail server may read these as a route, a command or an option. */
const UNSAFE = `
  victim%v.example@example.org host!victim@example.org |sh@example.org \`id\`@example.org $(id)@example.org
  /dev/null@example.org -f@example.org +@example.org prvs=1=victim@example.org`;
/** Addresses without a public mail server, or in a form that some mail servers refuse. */
const UNUSUAL = `
  ada@localhost ada@intranet ada@127.0.0.1 ada@[127.0.0.1] .ada@example.org a..b@example.org ada ada@eve@example.org
  <ada@example.org> ada@bücher.example @example.org`;
/** parseContactMessage already refuses these: none may become a second recipient or a header. */
const INJECTIONS = [
  "ada@example.org,eve@example.org",
  "ada@example.org\r\nBcc: eve@example.org",
  '"ada eve"@example.org',
  "",
];

const REFUSED = `${PROGRAMS_AND_LISTS} ${UNSAFE} ${UNUSUAL}`.trim().split(/\s+/);

test.each(REFUSED.concat(INJECTIONS))("%j gets no acknowledgement", (address) => {
  expect(isReadByPerson(address)).toBe(false);
});
