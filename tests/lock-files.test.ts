import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

type LockFile = { packages: Record<string, { version: string; integrity?: string; resolved?: string }> };

/**
 * Binaries for other systems than Linux with glibc, which the npm registry did not have when these versions were pinned,
 * so that their hashes are not known. Another version needs all of its hashes, or a reason here.
 */
const UNPUBLISHED: readonly RegExp[] = [
  /^@biomejs\/cli-(?!linux-(x64|arm64)@).+@2\.6\.6$/,
  /^@rolldown\/binding-(?!linux-(x64|arm64)-gnu@).+@1\.2\.18$/,
];

test.for(["package-lock.json", "scripts/node-runtime/package-lock.json"])(
  "%s has the hash of every package, and names no registry",
  (file) => {
    const { packages } = JSON.parse(readFileSync(file, "utf8")) as LockFile;
    const entries = Object.entries(packages).filter(([path]) => path !== "");
    const withoutHash = entries
      .filter(([, { integrity }]) => !/^sha512-[\w+/]{86}==$/.test(integrity ?? ""))
      .map(([path, { version }]) => `${path.replace(/^.*node_modules\//, "")}@${version}`);
    expect(withoutHash.filter((name) => !UNPUBLISHED.some((pattern) => pattern.test(name)))).toEqual([]);
    expect(entries.filter(([, { resolved }]) => resolved !== undefined)).toEqual([]);
  },
);
