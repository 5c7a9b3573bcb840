import type { ContactMessage } from "../../contract/contact-message.ts";
import { messageWith } from "../store-contract/samples.ts";

export const HARMLESS = messageWith({ message: "Hello" });

/** Messages that must arrive unchanged. */
export const HOSTILE_CASES: [title: string, input: Partial<ContactMessage>][] = [
  ["a header in words in the name", { name: "Bcc: victim@example.net" }],
  ["a percent-encoded line end in the name", { name: "Ada%0d%0aBcc:victim@example.net" }],
  ["an encoded word in the name", { name: "=?utf-8?Q?Ada=0D=0ABcc:_victim@example.net?=" }],
  ["a long encoded word as the name", { name: `=?utf-8?q?${"evil_".repeat(17)}?=` }],
  ["encoded words and other letters in the name", { name: "Zoë =?UTF-8?Q?=41?= =?UTF-8?Q?=42?=" }],
  ["quotes in the name", { name: 'Ada "the Countess" Lovelace' }],
  ["backslashes in the name", { name: 'Ada\\" <victim@example.net>, \\' }],
  ["an address list in the name", { name: "a@example.net, b@example.net; c@example.net" }],
  ["an angle address in the name", { name: "Ada <victim@example.net>" }],
  ["HTML in the name", { name: "<script>alert(document.cookie)</script>" }],
  ["an HTML attribute's end in the name", { name: "'\"><img src=x onerror=alert(1)>" }],
  ["an HTML entity in the name", { name: "&lt;b&gt; &amp; &#60;" }],
  ["look-alike letters in the name", { name: "Аdа Ꮮοvеlаⅽе" }],
  ["zero-width joiners in the name", { name: "A\u200cd\u200da" }],
  ["stacked accents in the name", { name: `Z${"\u0341\u0489".repeat(49)}` }],
  ["one long word in the name", { name: "W".repeat(100) }],
  ["one long word of wide letters in the name", { name: "鬱".repeat(100) }],
  ["emoji in the name", { name: "👩‍🚀".repeat(20) }],
  ["a formula in the name", { name: "=cmd|' /C calc'!A0" }],
  ["format characters in the name", { name: "%s%n%x {{name}} #{id} $(id) `id`" }],

  ["shell characters in the local part", { email: "|`id`$IFS&{a}'*#!=?/^~@example.org" }],
  ["an encoded word as local part", { email: "=?utf-8?Q?ada?=@example.org" }],
  ["dots where they do not belong", { email: "..ada..@example.org" }],
  ["a percent hop in the local part", { email: "victim%example.net@example.org" }],
  ["a bang path in the local part", { email: "example.net!victim@example.org" }],

  ["a formula as phone number", { phone: "=cmd|' /C calc'!A0" }],
  ["HTML in the phone number", { phone: "<a href=//evil.test>call</a>" }],

  ["the end of data in the message", { message: "a\n.\nMAIL FROM:<x@example.net>\n.\n\nend" }],
  ["the end of data with mixed line ends", { message: "a\n.\r\nb" }],
  ["leading dots in the message", { message: ".\n..\n...\n.hidden" }],
  ["headers in the message", { message: "Subject: other\nBcc: victim@example.net\n\nbody" }],
  ["a MIME boundary in the message", { message: "----_NmP-0000000000000000-Part_1\nContent-Type: text/html" }],
  ["mbox's From in the message", { message: "From ada\n>From ada" }],
  ["quoted-printable in the message", { message: "=0D=0A=3Cb=3E=\n= \n=3D" }],
  ["trailing blanks in the message", { message: "a  \nb\t\n \nc" }],
  ["HTML in the message", { message: "</div></body><script>alert(1)</script><img src=//evil.test>" }],
  ["a faked field in the message", { message: "x\n\nEmail: victim@example.net\nReply to this email" }],
  ["one word of 5,000 letters", { message: "x".repeat(5000) }],
  ["emoji to the limit", { message: "😀".repeat(2500) }],
  ["5,000 short lines", { message: `${".\n".repeat(2499)}ab` }],
  ["right-to-left text in the message", { message: "שלום \u202babc\u202c \u2067abc\u2069\nمرحبا" }],
];
