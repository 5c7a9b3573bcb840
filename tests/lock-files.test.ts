import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

interface Entry {
  version: string;
  integrity?: string;
  resolved?: string;
  optionalDependencies?: Record<string, string>;
}
type LockFile = { packages: Record<string, Entry> };

test.for(["package-lock.json", "film/package-lock.json", "scripts/node-runtime/package-lock.json"])(
  "%s has every package of every platform, each with a hash, and names no registry",
  (file) => {
    const { packages } = JSON.parse(readFileSync(file, "utf8")) as LockFile;
    const entries = Object.entries(packages).filter(([path]) => path !== "");
    const withoutHash = entries
      .filter(([, { integrity }]) => !/^sha512-[\w+/]{86}==$/.test(integrity ?? ""))
      .map(([path, { version }]) => `${path.replace(/^.*node_modules\//, "")}@${version}`);
    expect(withoutHash).toEqual([]);
    expect(entries.filter(([, { resolved }]) => resolved !== undefined)).toEqual([]);
    // npm may drop the packages of other platforms, and then `npm ci` fails there.
    const optional = Object.values(packages).flatMap((entry) => Object.keys(entry.optionalDependencies ?? {}));
    const isLocked = (name: string) => Object.keys(packages).some((path) => path.endsWith(`node_modules/${name}`));
    expect(optional.filter((name) => !isLocked(name))).toEqual([]);
  },
);
