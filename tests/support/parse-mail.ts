/** A mail parsed like mail programs do: by RFC 5322, 2045 and 2047, except for encoded words in quoted names. */
export function parseMail(raw: Buffer) {
  const { headers, body } = splitEntity(raw.toString("latin1"));
  const rawHeader = (name: string): string => {
    const [only, ...others] = headers.filter(([key]) => key.toLowerCase() === name.toLowerCase());
    if (!only || others.length > 0) throw new Error(`${others.length + (only ? 1 : 0)} headers ${name}`);
    return only[1];
  };
  return {
    /** In order, unfolded, still encoded. */
    headers,
    /** A header's text; throws unless there is exactly one such header. */
    header: (name: string) => decodeWords(rawHeader(name)),
    /** The single mailbox of an address header. */
    mailbox: (name: string) => parseMailbox(rawHeader(name)),
    text: decodeText(headers, body),
  };
}

function splitEntity(entity: string): { headers: [string, string][]; body: string } {
  const end = entity.indexOf("\r\n\r\n");
  if (end < 0) throw new Error("no end of headers");
  const lines = entity.slice(0, end).replaceAll(/\r\n(?=[ \t])/g, "");
  const headers = lines.split("\r\n").map((line): [string, string] => {
    const [, name, value] = /^([!-9;-~]+): ?([\t\x20-\x7e]*)$/.exec(line) ?? [];
    if (name === undefined || value === undefined) throw new Error(`not a header: ${JSON.stringify(line)}`);
    return [name, value];
  });
  return { headers, body: entity.slice(end + 4) };
}

function decodeText(headers: [string, string][], body: string): string {
  const found = Object.fromEntries(headers.map(([name, value]) => [name.toLowerCase(), value]));
  if (found["content-type"] !== "text/plain; charset=utf-8") throw new Error(`of type ${found["content-type"]}`);
  if (found["content-transfer-encoding"] !== "quoted-printable") throw new Error("not quoted-printable");
  if (body.split("\r\n").some((line) => line.length > 76)) throw new Error("a line that is too long");
  // The last line end belongs to the mail, not to the text.
  const bytes = unquote(body.replace(/\r\n$/, "").replaceAll(/=\r\n/g, ""));
  return bytes.toString("utf8").replaceAll("\r\n", "\n");
}

function unquote(text: string): Buffer {
  return Buffer.from(
    text.replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    "latin1",
  );
}

/**
 * Spaces between two encoded words are not part of the text. Joins the bytes first, because a character may be split.
 */
function decodeWords(value: string): string {
  const joined = value.replaceAll(/(\?=)[ \t]+(?==\?[\w-]+\?[QB]\?)/gi, "$1");
  return joined.replaceAll(/(?:=\?UTF-8\?[QB]\?[^?\s]*\?=)+/gi, (words) => {
    const parts = [...words.matchAll(/=\?UTF-8\?([QB])\?([^?\s]*)\?=/gi)].map(([, encoding, content = ""]) =>
      encoding?.toUpperCase() === "B" ? Buffer.from(content, "base64") : unquote(content.replaceAll("_", " ")),
    );
    return Buffer.concat(parts).toString("utf8");
  });
}

function parseMailbox(value: string): { name: string; address: string } {
  const bare = /^([^\s"(),:;<>@[\\\]]+@[^\s"(),:;<>@[\\\]]+)$/.exec(value);
  if (bare) return { name: "", address: bare[1] ?? "" };
  const quoted = /^"((?:[^"\\]|\\.)*)" <([^<>]+)>$/.exec(value);
  // Encoded words are not allowed in a quoted string (RFC 2047, section 5), but mail programs decode them.
  if (quoted) return { name: decodeWords((quoted[1] ?? "").replaceAll(/\\(.)/g, "$1")), address: quoted[2] ?? "" };
  const plain = /^(?:([^"(),:;<>@[\\\]]*) )?<([^<>]+)>$/.exec(value);
  if (!plain) throw new Error(`not one mailbox: ${JSON.stringify(value)}`);
  return { name: decodeWords(plain[1] ?? ""), address: plain[2] ?? "" };
}
