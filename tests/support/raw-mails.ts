import type { MailKind } from "../../server/mailbox/mail.ts";

// Mails in the shape of programs and providers, about the message BC-7K3Q-9M of ada@example.org.

export const THREAD = {
  id: 17,
  reference: "BC-7K3Q-9M",
  email: "Ada@example.org",
  mailIds: ["<CAB-ada-1@mail.gmail.com>"],
};
export const TEAM_ADDRESSES = ["team@post.example", "website@brighter.example", "hello@gmail.com"];
export const SITE_URL = "https://www.brighter.example";
const REPLY = "<BC-7K3Q-9M.17.reply-1a2b3c4d@brighter.example>";
const TEAM_MAIL = "<BC-7K3Q-9M.17@brighter.example>";

export interface RawMail {
  name: string;
  raw: Buffer;
  kind: MailKind;
  /** Parts that the text has. */
  text?: readonly string[];
  /** What is quoted of earlier mails begins with this. */
  quoted?: string;
  isSender?: boolean;
  part?: string;
  reason?: string;
}

type Headers = Readonly<Record<string, string | readonly string[]>>;

/** Lines end as on the wire. A list is a header on several lines. */
export function rawMail(headers: Headers, body: string | Buffer = "Thanks!\n"): Buffer {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${[value].flat().join("\r\n ")}\r\n`);
  const content = typeof body === "string" ? Buffer.from(body.replaceAll("\n", "\r\n")) : body;
  return Buffer.concat([Buffer.from(`${lines.join("")}\r\n`), content]);
}

let number = 0;
function fromAda(more: Headers = {}): Headers {
  number += 1;
  return {
    From: "Ada Lovelace <ada@example.org>",
    To: "Brighter <team@post.example>",
    Subject: "Re: Your message (BC-7K3Q-9M)",
    Date: "Thu, 19 Nov 2026 10:00:00 +0000",
    "Message-ID": `<ada-${number}@example.org>`,
    "In-Reply-To": REPLY,
    References: [TEAM_MAIL, REPLY],
    "MIME-Version": "1.0",
    "Content-Type": "text/plain; charset=UTF-8",
    ...more,
  };
}

const multipart = (parts: readonly string[], boundary = "=_b1") =>
  `${parts.map((part) => `--${boundary}\n${part}\n`).join("")}--${boundary}--\n`;
const typed = (type: string, boundary = "=_b1") => ({ "Content-Type": `multipart/${type}; boundary="${boundary}"` });
const plain = (text: string) => `Content-Type: text/plain; charset="UTF-8"\n\n${text}`;
const html = (text: string) => `Content-Type: text/html; charset="UTF-8"\n\n${text}`;

const GMAIL_TEXT = `Yes, please. Tuesday suits me.

Ada

On Thu, Nov 19, 2026 at 9:57 AM Brighter Carbon <website@brighter.example>
wrote:

> Dear Ada,
>
> would Tuesday suit you?
`;
const OUTLOOK_TEXT = `Yes, that works for us.

Regards
Ada

________________________________
From: Brighter Carbon <website@brighter.example>
Sent: Thursday, November 19, 2026 9:57 AM
To: Ada Lovelace <ada@example.org>
Subject: Your message (BC-7K3Q-9M)

Dear Ada,

would Tuesday suit you?
`;

const charsets: readonly [charset: string, base64: string, text: string][] = [
  ["windows-1251", "0e/g8ejh7iwg5OA=", "Спасибо, да"],
  ["koi8-r", "89DB08nCzywgxME=", "Спасибо, да"],
  ["iso-2022-jp", "GyRCJCIkaiQsJEgkJiQ0JDYkJCReJDkbKEI=", "ありがとうございます"],
  ["shift_jis", "gqCC6IKqgsaCpIKygrSCooLcgrc=", "ありがとうございます"],
  ["gb18030", "0LvQu8TjtcS08Li0", "谢谢你的答复"],
  ["big5", "wcLBwqdBqrq1qsLQ", "謝謝你的答覆"],
  ["euc-kr", "sKi758fVtM+02Q==", "감사합니다"],
  ["iso-8859-15", "TWVyY2ksIDUgpCDnYSB2YQ==", "Merci, 5 € ça va"],
  ["windows-1252", "k0RhbmtlIHNjaPZulA==", "“Danke schön”"],
  ["utf-8", "zpXPhc+HzrHPgc65z4PPhM+OIPCfjI0=", "Ευχαριστώ 🌍"],
];

const report = (type: string, status: string, original: string) =>
  multipart([
    plain("This is the mail system. I'm sorry."),
    `Content-Type: message/delivery-status\n\n${status}`,
    `Content-Type: ${type}\n\n${original}`,
  ]);
const DAEMON: Headers = {
  From: "MAILER-DAEMON@mail.brighter.example (Mail Delivery System)",
  To: "website@brighter.example",
  Subject: "Undelivered Mail Returned to Sender",
  "Auto-Submitted": "auto-replied",
  "MIME-Version": "1.0",
  "Content-Type": 'multipart/report; report-type=delivery-status; boundary="=_b1"',
  "Message-ID": "<20261119100000.9F1@mail.brighter.example>",
};
const ORIGINAL = `Return-Path: <website@brighter.example>\nMessage-ID: ${REPLY}\nSubject: Re: Your message (BC-7K3Q-9M)\nFrom: website@brighter.example\n`;
const failedAt = (action: string) => `Reporting-MTA: dns; mail.brighter.example

Final-Recipient: rfc822; ada@example.org
Action: ${action}
Status: 5.1.1
Diagnostic-Code: smtp; 550 5.1.1 <ada@example.org>: Recipient address
    rejected: User unknown
`;
const POSTFIX = report("text/rfc822-headers", failedAt("failed"), ORIGINAL);

const outOfOffice = (more: Headers) =>
  rawMail(fromAda({ Subject: "Automatic reply: Your message (BC-7K3Q-9M)", ...more }), "I am away until Monday.\n");

function nested(levels: number): string {
  let body = plain("deep inside");
  for (let level = 0; level < levels; level += 1)
    body = `Content-Type: multipart/mixed; boundary=n${level}\n\n--n${level}\n${body}\n--n${level}--\n`;
  return body.replace(/^Content-Type: .*\n\n/, "");
}

export const RAW_MAILS: readonly RawMail[] = [
  {
    name: "Gmail: plain and HTML, quoted below",
    raw: rawMail(
      fromAda(typed("alternative")),
      multipart([plain(GMAIL_TEXT), html('<div dir="ltr">Yes, please.</div><div class="gmail_quote">…</div>')]),
    ),
    kind: "answer",
    isSender: true,
    text: ["Tuesday suits me", "> would Tuesday suit you?"],
    quoted: "On Thu, Nov 19, 2026",
  },
  {
    name: "Outlook: header block, no marks",
    raw: rawMail(fromAda({ "Thread-Topic": "Your message", "X-Mailer": "Microsoft Outlook 16.0" }), OUTLOOK_TEXT),
    kind: "answer",
    text: ["that works for us"],
    quoted: "________",
  },
  {
    name: "Outlook in German, as base64",
    raw: rawMail(
      fromAda({ "Content-Transfer-Encoding": "base64", Subject: "AW: Your message (BC-7K3Q-9M)" }),
      Buffer.from(
        "Ja, gerne.\r\n\r\nVon: Brighter <website@brighter.example>\r\nGesendet: Donnerstag, 19. November 2026 09:57\r\nAn: ada@example.org\r\nBetreff: Your message\r\n\r\nDear Ada",
      ).toString("base64"),
    ),
    kind: "answer",
    text: ["Ja, gerne."],
    quoted: "Von:",
  },
  {
    name: "Exchange: HTML only",
    raw: rawMail(
      fromAda({ "Content-Type": "text/html; charset=utf-8" }),
      "<html><head><style>p{color:red}</style></head><body><p>Yes &amp; thanks</p><script>alert(1)</script><blockquote>Dear Ada</blockquote></body></html>\n",
    ),
    kind: "answer",
    text: ["Yes & thanks", "Dear Ada"],
  },
  {
    name: "Apple Mail: flowed lines, quoted below",
    raw: rawMail(
      fromAda({ "Content-Type": "text/plain; charset=us-ascii; format=flowed; delsp=yes" }),
      "Yes.\n\n> On 19 Nov 2026, at 09:57, Brighter <website@brighter.example> wrote:\n> \n> Dear Ada\n",
    ),
    kind: "answer",
    text: ["Yes."],
    quoted: "> On 19 Nov",
  },
  {
    name: "Thunderbird: answer below the quote",
    raw: rawMail(
      fromAda(),
      "Am 19.11.26 um 09:57 schrieb Brighter:\n> Dear Ada\n> would Tuesday suit you?\n\nTuesday is fine.\n",
    ),
    kind: "answer",
    text: ["Tuesday is fine."],
    quoted: "Am 19.11.26",
  },
  {
    name: "Thunderbird: answers between quotes",
    raw: rawMail(fromAda(), "> would Tuesday suit you?\nYes.\n> At ten?\nAt eleven.\n"),
    kind: "answer",
    text: ["Yes.", "At eleven."],
    quoted: "> would",
  },
  {
    name: "Yahoo",
    raw: rawMail(
      fromAda(typed("alternative")),
      multipart([
        plain(
          " Fine with me.\n    On Thursday, November 19, 2026 at 09:57:00 AM GMT, Brighter <website@brighter.example> wrote:  \n \n Dear Ada,\nwould Tuesday suit you?\n",
        ),
        html("<div>Fine with me.</div>"),
      ]),
    ),
    kind: "answer",
    text: ["Fine with me."],
    quoted: "    On Thursday",
  },
  {
    name: "GMX: HTML part first",
    raw: rawMail(fromAda(typed("mixed")), multipart([html("<p>Gerne!</p>")])),
    kind: "answer",
    text: ["Gerne!"],
  },
  {
    name: "K-9",
    raw: rawMail(
      fromAda({ "User-Agent": "K-9 Mail for Android", "Content-Transfer-Encoding": "quoted-printable" }),
      "Tr=C3=A8s bien.\n\nLe 19 novembre 2026 09:57:00 GMT, Brighter <website@brighter.example> a =C3=A9crit=C2=A0:\n>Dear Ada\n",
    ),
    kind: "answer",
    text: ["Très bien."],
    quoted: "Le 19 novembre",
  },
  ...charsets.map(
    ([charset, base64, text]): RawMail => ({
      name: `charset ${charset}`,
      raw: rawMail(
        fromAda({ "Content-Type": `text/plain; charset=${charset}`, "Content-Transfer-Encoding": "base64" }),
        base64,
      ),
      kind: "answer",
      text: [text],
    }),
  ),
  {
    name: "an unknown charset",
    raw: rawMail(fromAda({ "Content-Type": "text/plain; charset=x-klingon" }), "Readable\n"),
    kind: "answer",
    text: ["Readable"],
  },
  {
    name: "8-bit text without a charset",
    raw: rawMail(fromAda({ "Content-Type": "text/plain" }), Buffer.from("caf\xe9", "latin1")),
    kind: "answer",
    text: ["caf"],
  },
  {
    name: "an empty plain part beside HTML",
    raw: rawMail(fromAda(typed("alternative")), multipart([plain("\n"), html("<p>Only here</p>")])),
    kind: "answer",
    text: ["Only here"],
  },
  {
    name: "an edited subject",
    raw: rawMail(fromAda({ Subject: "One more question" })),
    kind: "answer",
    isSender: true,
  },
  {
    name: "replaced Message-IDs, the reference in round brackets",
    raw: rawMail(
      fromAda({ "In-Reply-To": "<0102-ses@email.amazonses.com>", References: "<0102-ses@email.amazonses.com>" }),
    ),
    kind: "answer",
    isSender: true,
  },
  {
    name: "a new mail with the reference in square brackets, in lower case",
    raw: rawMail({ From: "ADA@EXAMPLE.ORG", To: "team@post.example", Subject: "about [bc-7k3q-9m]" }),
    kind: "answer",
    isSender: true,
  },
  {
    name: "the reference in the subject, from a stranger",
    raw: rawMail({ From: "eve@elsewhere.example", To: "team@post.example", Subject: "Re: (BC-7K3Q-9M)" }),
    kind: "none",
  },
  {
    name: "the reference without brackets",
    raw: rawMail({ From: "ada@example.org", To: "team@post.example", Subject: "BC-7K3Q-9M please" }),
    kind: "none",
  },
  {
    name: "an answer to a mail of the thread",
    raw: rawMail(fromAda({ "In-Reply-To": "<CAB-ada-1@mail.gmail.com>", References: "<x@y>", Subject: "Fwd" })),
    kind: "answer",
  },
  {
    name: "another address",
    raw: rawMail(fromAda({ From: "Ada at work <ada@work.example>" })),
    kind: "answer",
    isSender: false,
  },
  {
    name: "another domain of MAIL_FROM at that time",
    raw: rawMail(fromAda({ "In-Reply-To": "<BC-7K3Q-9M.17.reply-1a2b3c4d@old.example>", References: "" })),
    kind: "answer",
    part: "reply-1a2b3c4d",
  },
  {
    name: "a forged reference: another number",
    raw: rawMail(fromAda({ "In-Reply-To": "<BC-7K3Q-9M.18@brighter.example>", References: "", Subject: "Hi" })),
    kind: "none",
  },
  {
    name: "a forged number: another reference",
    raw: rawMail(fromAda({ "In-Reply-To": "<BC-0000-00.17@brighter.example>", References: "", Subject: "Hi" })),
    kind: "none",
  },
  {
    name: "no Message-ID, as some phones send",
    raw: rawMail({ From: "ada@example.org", "In-Reply-To": REPLY, Subject: "Re" }),
    kind: "answer",
  },
  {
    name: "a colleague to the sender",
    raw: rawMail(
      fromAda({ From: "Bob <bob@brighter.example>", To: "Ada <ada@example.org>", "In-Reply-To": TEAM_MAIL }),
    ),
    kind: "reply",
  },
  {
    name: "a colleague at the website's host, the sender in Cc",
    raw: rawMail(fromAda({ From: "bob@www.brighter.example", To: "x@y.example", Cc: "Ada <ADA@example.org>" })),
    kind: "reply",
  },
  {
    name: "the team's public address to the sender",
    raw: rawMail(fromAda({ From: "hello@gmail.com", To: "ada@example.org" })),
    kind: "reply",
  },
  {
    name: "somebody at the same public provider as the team",
    raw: rawMail(fromAda({ From: "eve@gmail.com", To: "ada@example.org" })),
    kind: "answer",
    isSender: false,
  },
  {
    name: "a colleague without the sender",
    raw: rawMail(fromAda({ From: "bob@brighter.example", To: "team@post.example" })),
    kind: "none",
  },
  {
    name: "a colleague's forward with the reference in its subject",
    raw: rawMail({ From: "bob@brighter.example", To: "carol@brighter.example", Subject: "Fwd: [BC-7K3Q-9M]" }),
    kind: "none",
  },
  {
    name: "the team to the sender, known by the subject",
    raw: rawMail({ From: "bob@brighter.example", To: "ada@example.org", Subject: "Re: [BC-7K3Q-9M] Message from Ada" }),
    kind: "reply",
  },
  {
    name: "our own reply, in the folder of sent mail",
    raw: rawMail(fromAda({ From: "website@brighter.example", To: "ada@example.org", "Message-ID": REPLY })),
    kind: "none",
  },
  { name: "our own mail to the team", raw: rawMail(fromAda({ "Message-ID": TEAM_MAIL })), kind: "none" },
  {
    name: "Postfix: a reply that came back",
    raw: rawMail(DAEMON, POSTFIX),
    kind: "returned",
    part: "reply-1a2b3c4d",
    reason: "550 5.1.1 <address>: Recipient address rejected: User unknown",
  },
  {
    name: "Exchange: a reply that came back, with the whole original",
    raw: rawMail(
      { ...DAEMON, From: "postmaster@outlook.com", Subject: "Undeliverable: Re: Your message", "In-Reply-To": REPLY },
      report(
        "message/rfc822",
        "Original-Envelope-Id: <x>\n\nFinal-Recipient: rfc822;ada@example.org\nAction: failed\nStatus: 5.1.10\nDiagnostic-Code: smtp;550 5.1.10 RESOLVER.ADR.RecipientNotFound\n",
        `${ORIGINAL}\nDear Ada\n`,
      ),
    ),
    kind: "returned",
    part: "reply-1a2b3c4d",
    reason: "550 5.1.10 RESOLVER.ADR.RecipientNotFound",
  },
  {
    name: "the team's mail that came back",
    raw: rawMail(DAEMON, report("text/rfc822-headers", failedAt("failed"), `message-id: ${TEAM_MAIL}\n`)),
    kind: "returned",
  },
  {
    name: "a delay report",
    raw: rawMail({ ...DAEMON, Subject: "Delayed Mail" }, report("text/rfc822-headers", failedAt("delayed"), ORIGINAL)),
    kind: "automatic",
    part: "reply-1a2b3c4d",
  },
  {
    name: "a report about another mail",
    raw: rawMail(DAEMON, report("text/rfc822-headers", failedAt("failed"), "Message-ID: <other@brighter.example>\n")),
    kind: "none",
  },
  {
    name: "a read receipt",
    raw: rawMail(
      fromAda({ "Content-Type": 'multipart/report; report-type=disposition-notification; boundary="=_b1"' }),
      multipart([plain("Read."), "Content-Type: message/disposition-notification\n\nDisposition: manual-action\n"]),
    ),
    kind: "automatic",
  },
  { name: "out of office: Outlook", raw: outOfOffice({ "X-Auto-Response-Suppress": "All" }), kind: "automatic" },
  { name: "out of office: Gmail", raw: outOfOffice({ "Auto-Submitted": "auto-replied" }), kind: "automatic" },
  { name: "out of office: a web host", raw: outOfOffice({ "X-Autoreply": "yes" }), kind: "automatic" },
  { name: "out of office: vacation(1)", raw: outOfOffice({ Precedence: "bulk" }), kind: "automatic" },
  { name: "a mailing list", raw: rawMail(fromAda({ Precedence: "list" })), kind: "automatic" },
  { name: "Auto-Submitted: no", raw: rawMail(fromAda({ "Auto-Submitted": "no" })), kind: "answer" },
  {
    name: "10,000 References, ours last",
    raw: rawMail(
      fromAda({
        "In-Reply-To": "",
        Subject: "Hi",
        References: [...Array.from({ length: 10_000 }, (_, i) => `<${i}@list.example>`), REPLY],
      }),
    ),
    kind: "answer",
  },
  {
    name: "10,000 References, ours first",
    raw: rawMail(
      fromAda({
        "In-Reply-To": "",
        Subject: "Hi",
        References: [REPLY, ...Array.from({ length: 10_000 }, (_, i) => `<${i}@list.example>`)],
      }),
    ),
    kind: "none",
  },
  {
    name: "an attachment of 40 MB, of which the first part was read",
    raw: rawMail(
      fromAda(typed("mixed")),
      `--=_b1\n${plain("See the attachment.")}\n--=_b1\nContent-Type: application/pdf; name=big.pdf\nContent-Transfer-Encoding: base64\n\n${"QUJD".repeat(250_000)}`,
    ),
    kind: "answer",
    text: ["See the attachment."],
  },
  {
    name: "nested 200 levels",
    raw: rawMail(fromAda({ "Content-Type": "multipart/mixed; boundary=n199" }), nested(200)),
    kind: "answer",
    text: ["deep inside"],
  },
  {
    name: "nested 1,000 levels",
    raw: rawMail(fromAda({ "Content-Type": "multipart/mixed; boundary=n999" }), nested(1000)),
    kind: "answer",
    text: ["could not be read"],
  },
  {
    name: "headers without an end",
    raw: Buffer.concat([rawMail(fromAda(), "").subarray(0, -2), Buffer.alloc(3_000_000, "X-Filler: x\r\n")]),
    kind: "answer",
  },
  {
    name: "half a base64 character, and no closing boundary",
    raw: rawMail(
      fromAda(typed("mixed")),
      "--=_b1\nContent-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: base64\n\nSGFsbG8h8J+\n",
    ),
    kind: "answer",
    text: ["Hallo"],
  },
  { name: "a NUL and half a character", raw: rawMail(fromAda(), "a\0b \\ud83d\n"), kind: "answer", text: ["ab"] },
  { name: "no header at all", raw: Buffer.from("\r\n\r\nhello"), kind: "none" },
  { name: "nothing", raw: Buffer.alloc(0), kind: "none" },
  { name: "bytes", raw: Buffer.from(Array.from({ length: 5000 }, (_, index) => (index * 7919) % 256)), kind: "none" },
  {
    name: "a sender without an address",
    raw: rawMail(fromAda({ From: "undisclosed", Subject: "?" })),
    kind: "answer",
    isSender: false,
  },
];
