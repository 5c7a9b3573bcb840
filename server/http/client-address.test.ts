import { expect, test } from "vitest";
import { networkNames, networksOf } from "./client-address.ts";

const names = (address: string) => networkNames(address).map(({ name }) => name);

test.each(["192.0.2.7", "::ffff:192.0.2.7", "::ffff:c000:207", "192.0.2.7:41234", " 192.0.2.7 "])(
  "%s is one IPv4 client in its /24",
  (address) => {
    expect(names(address)).toEqual(["192.0.2.7/32", "192.0.2.0/24"]);
  },
);

test.each([
  "2001:db8:1:2ff:3:4:5:6",
  "2001:0db8:0001:02ff::9",
  "[2001:db8:1:2ff::9]",
  "[2001:db8:1:2ff::9]:41234",
  "2001:db8:1:2ff::9%eth0",
])("%s is one IPv6 client in its /56 and /48", (address) => {
  expect(names(address)).toEqual(["2001:db8:1:2ff::/64", "2001:db8:1:200::/56", "2001:db8:1::/48"]);
});

test.each(["", "unknown", "1.2.3.4.5", "[::1", "_hidden", "999.1.1.1:5"])(
  "%j shares one client's limits",
  (address) => {
    expect(names(address)).toEqual(["unreadable"]);
  },
);

test("wider networks have higher limits", () => {
  const allowances = (address: string) => networkNames(address).map(({ allowance }) => allowance);
  expect(allowances("192.0.2.7")).toEqual([1, 8]);
  expect(allowances("2001:db8::1")).toEqual([1, 4, 16]);
});

test("a hash depends on the network and the key, and shows neither", () => {
  const [key, otherKey] = ["1".repeat(64), "2".repeat(64)];
  const hashes = (address: string, secret = key) => networksOf(address, secret).map(({ hash }) => hash);
  expect(hashes("2001:db8:1:2::9")).toEqual(hashes("2001:db8:1:2::a"));
  expect(hashes("192.0.2.7")[0]).not.toBe(hashes("192.0.2.8")[0]);
  expect(hashes("192.0.2.7")[1]).toBe(hashes("192.0.2.8")[1]);
  expect(hashes("192.0.2.7")[0]).not.toBe(hashes("192.0.2.7", otherKey)[0]);
  expect(hashes("192.0.2.7")[0]).toMatch(/^[\w-]{22}$/);
});
