import { cp, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { compressBeside } from "../../prerender/compress.ts";

/**
 * The same pages as somebody would write them by hand: our own markup, styles, typeface and pictures, and no script at
 * all. The form is then a plain one and the film a still picture, so this is a limit and not a rival.
 */
export async function makeHandWrittenPages(): Promise<{ folder: string; remove(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), "hand-written-"));
  await cp("dist", folder, { recursive: true, filter: (path) => !/dist\/(bench|screenshots)/.test(path) });
  for (const name of await readdir(folder, { recursive: true })) {
    if (!name.endsWith(".html")) continue;
    const path = join(folder, name);
    const html = (await readFile(path, "utf8"))
      .replaceAll(/<script\b[\s\S]*?<\/script>/g, "")
      .replaceAll(/<video\b[\s\S]*?<\/video>/g, "")
      .replaceAll("<!-- -->", "");
    await writeFile(path, html);
    await compressBeside(path, Buffer.from(html));
  }
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) };
}
