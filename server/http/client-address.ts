import { createHmac } from "node:crypto";
import { isIPv6 } from "node:net";

/** A keyed hash of the client that an address stands for: never the address itself, and useless without the key. */
export function clientHash(address: string, key: Uint8Array): string {
  return createHmac("sha256", key).update(clientNetwork(address)).digest("base64url").slice(0, 32);
}

/** An IPv4 address, or the /64 network of an IPv6 address, since one subscriber holds all of that. */
export function clientNetwork(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped) return mapped;
  if (!isIPv6(address)) return address;
  const [head = "", tail] = (address.split("%")[0] ?? "").split("::");
  const before = head === "" ? [] : head.split(":");
  const after = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros = tail === undefined ? [] : Array<string>(Math.max(0, 8 - before.length - after.length)).fill("0");
  const network = [...before, ...zeros, ...after].slice(0, 4).map((group) => Number.parseInt(group, 16).toString(16));
  return `${network.join(":")}::/64`;
}
