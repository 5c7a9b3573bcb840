import { cp, symlink } from "node:fs/promises";
import { join, resolve } from "node:path";
import { makeScratchFolder } from "./scratch-folder.ts";

/** A copy of the files that a build and `npm run dev` need, so that a test can change them. It has no build. */
export async function copyProject(...more: readonly string[]): Promise<string> {
  const copy = await makeScratchFolder();
  const names = ["app", "contract", "prerender", "scripts", "server", "package.json", "vite.config.ts"];
  // Leaves out the Node in scripts/node-runtime.
  const filter = (path: string) => !path.endsWith("/node_modules");
  for (const name of [...names, ...more]) await cp(name, join(copy, name), { recursive: true, filter });
  await symlink(resolve("node_modules"), join(copy, "node_modules"));
  return copy;
}
