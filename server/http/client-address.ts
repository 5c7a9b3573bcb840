import { createHmac } from "node:crypto";
import ipaddr from "ipaddr.js";

/** A keyed hash of the client that an address stands for: never the address itself, and useless without the key. */
export function clientHash(address: string, key: Uint8Array): string {
  return createHmac("sha256", key).update(clientNetwork(address)).digest("base64url").slice(0, 32);
}

/** An IPv4 address, or the /64 network of an IPv6 address, since one subscriber has all of that. */
export function clientNetwork(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  if (parsed instanceof ipaddr.IPv4) return parsed.toString();
  const network = parsed.parts.slice(0, 4).map((part) => part.toString(16));
  return `${network.join(":")}::/64`;
}
