import { cp, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type BuildManifest, manifestFile } from "../../contract/build-manifest.ts";
import { type Build, loadBuild } from "../../server/http/build-files.ts";
import { makeScratchFolder } from "./scratch-folder.ts";

/** The build as the server loads it if it was made for an HTTPS address. */
export async function loadHttpsSite(): Promise<Build> {
  const folder = join(await makeScratchFolder(), "dist");
  await cp("dist", folder, { recursive: true });
  const manifest = JSON.parse(await readFile(manifestFile("dist"), "utf8")) as BuildManifest;
  manifest.settings.siteUrl = "https://www.example.com";
  await writeFile(manifestFile(folder), JSON.stringify(manifest));
  return loadBuild(folder);
}
