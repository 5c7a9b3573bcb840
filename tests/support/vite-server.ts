import { createServer } from "vite";
import type { RenderContext } from "../../app/screen.ts";
import { parseBuildSettings } from "../../contract/build-settings.ts";
import config from "../../vite.config.ts";

/** Vite on the sources of the site, without a port. */
export function openVite() {
  const options = { middlewareMode: true, ws: false, watch: null } as const;
  return createServer({ ...config, configFile: false, logLevel: "warn", server: options });
}

/** What a page is rendered with when these variables are set. */
export const contextOf = (env: Readonly<Record<string, string | undefined>>): RenderContext => ({
  settings: parseBuildSettings(env).settings,
  scripts: { film: { url: "/film.js" }, contact: { url: "/contact.js" } },
});
