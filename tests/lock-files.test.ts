import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

type LockFile = { packages: Record<string, { version: string; integrity?: string; resolved?: string }> };

test.for(["package-lock.json", "film/package-lock.json", "scripts/node-runtime/package-lock.json"])(
  "%s has a hash for every package, and names no registry",
  (file) => {
    const { packages } = JSON.parse(readFileSync(file, "utf8")) as LockFile;
    const entries = Object.entries(packages).filter(([path]) => path !== "");
    const withoutHash = entries
      .filter(([, { integrity }]) => !/^sha512-[\w+/]{86}==$/.test(integrity ?? ""))
      .map(([path, { version }]) => `${path.replace(/^.*node_modules\//, "")}@${version}`);
    expect(withoutHash).toEqual([]);
    expect(entries.filter(([, { resolved }]) => resolved !== undefined)).toEqual([]);
  },
);
