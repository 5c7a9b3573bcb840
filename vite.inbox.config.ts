import { defineConfig, type Plugin } from "vite";
import { hexColours, markOf } from "./app/styles/look.ts";
import { parseBuildSettings } from "./contract/build-settings.ts";
import { companySettings, readSettings } from "./prerender/site-dir.ts";

/**
 * The operator's inbox. scripts/build-inbox.ts writes it to a separate folder, because the public server serves only
 * `dist/site/`.
 */
export default defineConfig({
  root: "desk/page",
  // Beside the cache of `npm run dev`, which may run at the same time.
  cacheDir: "../../node_modules/.vite/inbox",
  plugins: [companySettings(), icon()],
  publicDir: false,
  css: { transformer: "lightningcss" },
  build: {
    target: ["chrome117", "safari17", "firefox125"],
    // A data: URL would need a looser Content-Security-Policy.
    assetsInlineLimit: 0,
    modulePreload: false,
    // A large script does no harm, because the page is served only on this machine.
    chunkSizeWarningLimit: 1000,
    // Hides warnings about "use client" directives in React packages, which have no effect here, and about a slow
    // machine.
    rolldownOptions: { checks: { moduleLevelDirective: false, bundlerTimings: false } },
  },
});

/** The site's mark in its accent colour, which is visible on light and dark tabs alike. */
function icon(): Plugin {
  const fileName = "assets/icon.svg";
  async function draw(): Promise<string> {
    const { site } = await readSettings(parseBuildSettings(process.env).settings.siteDir);
    const { look } = site;
    const { viewBox, ink, accent } = markOf(look);
    const fill = hexColours(look).accent;
    return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="${viewBox}" fill="${fill}"><path d="${ink}${accent}"/></svg>`;
  }
  return {
    name: "icon",
    async generateBundle() {
      this.emitFile({ type: "asset", fileName, source: await draw() });
    },
    configureServer({ middlewares }) {
      middlewares.use(`/${fileName}`, async (_request, response) =>
        response.setHeader("content-type", "image/svg+xml").end(await draw()),
      );
    },
  };
}
