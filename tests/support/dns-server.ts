import { createSocket } from "node:dgram";
import { once } from "node:events";
import { onTestFinished } from "vitest";

const TXT = 16;
const NAME_ERROR = 3;

/** A DNS server on the loopback interface that has only these TXT records. Any other name does not exist. */
export async function startDnsServer(records: Readonly<Record<string, readonly string[]>>): Promise<string> {
  const socket = createSocket("udp4");
  socket.on("message", (query, { port, address }) => {
    socket.send(answer(query, records), port, address);
  });
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  onTestFinished(() => void socket.close());
  return `127.0.0.1:${socket.address().port}`;
}

/** RFC 1035: the header, the question as received, then one resource record for each text. */
function answer(query: Buffer, records: Readonly<Record<string, readonly string[]>>): Buffer {
  const { name, end } = readName(query, 12);
  const texts = records[name];
  const question = query.subarray(12, end + 4);
  const header = Buffer.alloc(12);
  query.copy(header, 0, 0, 2);
  header.writeUInt16BE(0x8180 | (texts ? 0 : NAME_ERROR), 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(texts?.length ?? 0, 6);
  return Buffer.concat([header, question, ...(texts ?? []).map(textRecord)]);
}

function textRecord(text: string): Buffer {
  const parts = text.match(/.{1,255}/gs) ?? [];
  const data = Buffer.concat(parts.map((part) => Buffer.concat([Buffer.from([part.length]), Buffer.from(part)])));
  const record = Buffer.alloc(12);
  // A pointer to the question's name, which starts at byte 12.
  record.writeUInt16BE(0xc00c, 0);
  record.writeUInt16BE(TXT, 2);
  record.writeUInt16BE(1, 4);
  record.writeUInt32BE(60, 6);
  record.writeUInt16BE(data.length, 10);
  return Buffer.concat([record, data]);
}

function readName(message: Buffer, start: number): { name: string; end: number } {
  const labels: string[] = [];
  let at = start;
  for (let length = message[at] ?? 0; length > 0; length = message[at] ?? 0) {
    labels.push(message.toString("ascii", at + 1, at + 1 + length));
    at += length + 1;
  }
  return { name: labels.join(".").toLowerCase(), end: at + 1 };
}
