import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type BuildManifest, MANIFEST_VERSION, manifestFile } from "../contract/build-manifest.ts";
import { errorCode, errorName } from "./log.ts";
import { OperatorError } from "./operator-error.ts";

export class BuildMissing extends OperatorError {
  override readonly name = "BuildMissing";
}

export const DIST_DIR = fileURLToPath(new URL("../dist/", import.meta.url));

/** The site's settings in the build; `null` without a build. */
export function readSite(): BuildManifest["site"] | null {
  try {
    return readManifest(DIST_DIR).site;
  } catch (error) {
    if (error instanceof BuildMissing) return null;
    throw error;
  }
}

/** Throws BuildMissing. */
export function readManifest(distDir: string): BuildManifest {
  let manifest: BuildManifest;
  try {
    manifest = JSON.parse(readFileSync(manifestFile(distDir), "utf8"));
  } catch (error) {
    const isMissing = errorCode(error) === "ENOENT";
    const reason = `The build in dist/ cannot be read (${errorName(error)})`;
    const problem = isMissing ? "There is no build to serve in dist/" : reason;
    throw new BuildMissing({ problem, command: "build" }, { cause: error });
  }
  if (manifest.version !== MANIFEST_VERSION) {
    throw new BuildMissing({ problem: "The build in dist/ is from another version of the program", command: "build" });
  }
  return manifest;
}
