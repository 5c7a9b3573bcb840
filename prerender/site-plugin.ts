import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { isRunnableDevEnvironment, type Plugin, type ViteBuilder, type ViteDevServer } from "vite";
import type { PageScript, RenderContext } from "../app/screen.ts";
import { type BuildSettings, parseBuildSettings } from "../contract/build-settings.ts";
import { areFactorsDue, FACTORS_REMEDY } from "../contract/footprint-factors.ts";
import { electricityFile } from "./electricity.ts";
import { technicalFiles } from "./technical-files.ts";
import { writeSite } from "./write-site.ts";

type Renderer = typeof import("../app/render.tsx");

const SCRIPTS = { film: "app/film.ts", contact: "app/client.tsx" } as const;
const OUT = "dist";
/** Where the renderer itself is built to; removed when the build is done. */
const RENDERER_OUT = "dist/.renderer";

/**
 * Turns the React components of `app/` into static pages: at build time into `dist/`, and in development on every
 * request. Nothing outside this folder knows how pages are rendered.
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
              // Its own chunks stay out of the folder from which files are copied into the site.
              rolldownOptions: { input: "app/render.tsx", output: { assetFileNames, chunkFileNames: "[name].js" } },
            },
          },
        },
        builder: { buildApp: (builder) => buildSite(builder, settings) },
      };
    },

    configureServer(server) {
      return () => serveDev(server, renderContext(settings, devScripts()));
    },

    // Pages have no script that could replace a part of them, so they reload when a file changes that they are made of.
    hotUpdate({ modules, server }) {
      const isOfPages = this.environment.name === "ssr" && modules.length > 0;
      if (isOfPages) server.environments.client.hot.send({ type: "full-reload" });
    },
  };
}

async function buildSite(builder: ViteBuilder, settings: BuildSettings): Promise<void> {
  const { client, ssr } = builder.environments;
  if (!client || !ssr) throw new Error("Vite has no client or no ssr environment.");
  await builder.build(client);
  await builder.build(ssr);

  const renderer: Renderer = await import(pathToFileURL(join(RENDERER_OUT, "render.js")).href);
  const context = renderContext(settings, await builtScripts());
  const unset = await writeSite({ renderer, context, outDir: OUT, rendererDir: RENDERER_OUT });
  await rm(RENDERER_OUT, { recursive: true });
  if (unset.length > 0) console.log(`To do before launch, shown as placeholders until then:\n  ${unset.join("\n  ")}`);
  if (areFactorsDue(new Date())) console.log(`Newer factors of the footprint estimate are due; ${FACTORS_REMEDY}`);
}

/** Renders the page again on every request. */
function serveDev(server: ViteDevServer, context: RenderContext): void {
  const { ssr } = server.environments;
  if (!ssr || !isRunnableDevEnvironment(ssr)) throw new Error("Vite's ssr environment cannot run modules.");
  // Drawn once: icons are slow to draw.
  const files = technicalFiles(context.settings, []);

  server.middlewares.use(async (request, response, next) => {
    try {
      const path = decodeURI(new URL(request.url ?? "/", "http://localhost").pathname).replace(/(?!^)\/+$/, "");
      const file = (await files).find((one) => path === `/${one.file}`);
      if (file) {
        response.end(file.content);
        return;
      }
      const { renderPath } = await ssr.runner.import<Renderer>("/app/render.tsx");
      const html = await renderPath(path, context);
      response.setHeader("content-type", "text/html; charset=utf-8");
      response.end(await server.transformIndexHtml(path, html));
    } catch (error) {
      next(error);
    }
  });
}

/** The film's script is small enough to be written into its page; the contact form's is a file of its own. */
async function builtScripts(): Promise<RenderContext["scripts"]> {
  const manifestFile = join(OUT, ".scripts.json");
  const manifest = JSON.parse(await readFile(manifestFile, "utf8")) as Record<string, { file: string }>;
  await rm(manifestFile);
  const fileOf = (source: string) => {
    const file = manifest[source]?.file;
    if (!file) throw new Error(`The build wrote no script for ${source}.`);
    return file;
  };
  const filmFile = join(OUT, fileOf(SCRIPTS.film));
  const film: PageScript = { code: (await readFile(filmFile, "utf8")).trim() };
  await rm(filmFile);
  return { film, contact: { url: `/${fileOf(SCRIPTS.contact)}` } };
}

function renderContext(settings: BuildSettings, scripts: RenderContext["scripts"]): RenderContext {
  const electricityUrl = `/${electricityFile().file}`;
  return { settings, scripts, electricityUrl, footprintOf: () => null, isSavingData: false };
}

function devScripts(): RenderContext["scripts"] {
  return { film: { url: `/${SCRIPTS.film}` }, contact: { url: `/${SCRIPTS.contact}` } };
}

function stop(problems: readonly string[]): never {
  for (const problem of problems) console.error(problem);
  process.exit(1);
}
