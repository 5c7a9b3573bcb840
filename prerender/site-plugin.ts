import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Plugin, ViteBuilder } from "vite";
import type { PageScript, RenderContext } from "../app/render-context.ts";
import { type BuildSettings, parseBuildSettings } from "../contract/build-settings.ts";
import { serveDev } from "./dev-server.ts";
import { writeSite } from "./write-site.ts";

export type Renderer = typeof import("../app/render.tsx");

const SCRIPTS = { film: "app/film.ts", contact: "app/client.tsx" } as const;
const OUT = "dist";
/** Where the renderer itself is built to; gone when the build is done. */
const RENDERER_OUT = "dist/.renderer";

/**
 * Turns the React components of `app/` into static pages: at build time into `dist/`, and in development on every
 * request. Nothing else knows how pages are made.
 */
export function site(): Plugin {
  let settings: BuildSettings;
  return {
    name: "site",

    config() {
      const parsed = parseBuildSettings(process.env);
      if (parsed.problems.length > 0) stop(parsed.problems);
      settings = parsed.settings;
      const assetFileNames = ({ names }: { names: string[] }) =>
        names.some((name) => /\.(mp4|webm)$/.test(name))
          ? "media/[name]-[hash][extname]"
          : "assets/[name]-[hash][extname]";
      return {
        appType: "custom",
        build: { target: ["chrome117", "safari17", "firefox125"], assetsInlineLimit: 0, modulePreload: false },
        environments: {
          client: {
            build: { outDir: OUT, emptyOutDir: true, manifest: ".scripts.json", rolldownOptions: { input: SCRIPTS } },
          },
          ssr: {
            build: {
              outDir: RENDERER_OUT,
              ssr: true,
              emitAssets: true,
              cssMinify: "lightningcss",
              rolldownOptions: { input: "app/render.tsx", output: { assetFileNames } },
            },
          },
        },
        builder: { buildApp: (builder) => buildSite(builder, settings) },
      };
    },

    configureServer(server) {
      return () => serveDev(server, { settings, scripts: devScripts(), footprintOf: () => null });
    },
  };
}

async function buildSite(builder: ViteBuilder, settings: BuildSettings): Promise<void> {
  const { client, ssr } = builder.environments;
  if (!client || !ssr) throw new Error("Vite lost one of its two environments.");
  await builder.build(client);
  await builder.build(ssr);

  const renderer: Renderer = await import(pathToFileURL(join(RENDERER_OUT, "render.js")).href);
  const context: RenderContext = { settings, scripts: await builtScripts(), footprintOf: () => null };
  const unset = await writeSite({ renderer, context, outDir: OUT, rendererDir: RENDERER_OUT });
  await rm(RENDERER_OUT, { recursive: true });
  if (unset.length > 0) console.log(`To do before launch, shown as placeholders until then:\n  ${unset.join("\n  ")}`);
}

/** The film's script is small enough to be written into its page; the contact form's is a file of its own. */
async function builtScripts(): Promise<RenderContext["scripts"]> {
  const manifestFile = join(OUT, ".scripts.json");
  const manifest = JSON.parse(await readFile(manifestFile, "utf8")) as Record<string, { file: string }>;
  await rm(manifestFile);
  const fileOf = (source: string) => {
    const file = manifest[source]?.file;
    if (!file) throw new Error(`The build made no script from ${source}.`);
    return file;
  };
  const filmFile = join(OUT, fileOf(SCRIPTS.film));
  const film: PageScript = { code: (await readFile(filmFile, "utf8")).trim() };
  await rm(filmFile);
  return { film, contact: { url: `/${fileOf(SCRIPTS.contact)}` } };
}

function devScripts(): RenderContext["scripts"] {
  return { film: { url: `/${SCRIPTS.film}` }, contact: { url: `/${SCRIPTS.contact}` } };
}

function stop(problems: readonly string[]): never {
  for (const problem of problems) console.error(problem);
  process.exit(1);
}
