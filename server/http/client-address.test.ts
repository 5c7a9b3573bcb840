import { expect, test } from "vitest";
import { clientHash, clientNetwork } from "./client-address.ts";

test.each([
  ["192.0.2.7", "192.0.2.7"],
  ["::ffff:192.0.2.7", "192.0.2.7"],
  ["::ffff:c000:207", "192.0.2.7"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
  ["2001:db8:1:2::9", "2001:db8:1:2::/64"],
  ["2001:0db8:0001:0002::9", "2001:db8:1:2::/64"],
  ["2001:db8::1", "2001:db8:0:0::/64"],
  ["::1", "0:0:0:0::/64"],
  ["fe80::1%eth0", "fe80:0:0:0::/64"],
])("%s belongs to the client %s", (address, network) => {
  expect(clientNetwork(address)).toBe(network);
});

test("the hash depends on the client and the key, and shows neither", () => {
  const [key, otherKey] = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)];
  expect(clientHash("2001:db8:1:2::9", key)).toBe(clientHash("2001:db8:1:2::a", key));
  expect(clientHash("192.0.2.7", key)).not.toBe(clientHash("192.0.2.8", key));
  expect(clientHash("192.0.2.7", key)).not.toBe(clientHash("192.0.2.7", otherKey));
  expect(clientHash("192.0.2.7", key)).toMatch(/^[\w-]{32}$/);
});
