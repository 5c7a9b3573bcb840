import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { join, resolve, sep } from "node:path";
import { pathToFileURL } from "node:url";
import type { Plugin, PluginOption, ViteBuilder, ViteDevServer } from "vite";
import type { RenderContext } from "../app/screen.ts";
import type { SiteSettings } from "../app/site-schema.ts";
import { FORM_BUNDLE, serverDir } from "../contract/build-manifest.ts";
import { type BuildSettings, parseBuildSettings } from "../contract/build-settings.ts";
import { adviceLine } from "../contract/commands.ts";
import { areFactorsDue, FACTORS_REMEDY } from "../contract/footprint/factors.ts";
import { escapeHtml } from "../contract/text.ts";
import { listOpen, readClaims } from "./claims.ts";
import { electricityFile } from "./electricity.ts";
import { loadModule, loadRenderer, type Renderer } from "./load-renderer.ts";
import { draftDirOf, replaceWhenBuilt } from "./output-folder.ts";
import { findPathProblems, type PageFiles, type Problem, problemsError, readPageFiles } from "./page-files.ts";
import {
  companySettings,
  parseSettings,
  readOwnSettings,
  settingsProblems,
  siteDirProblems,
  siteFolder,
} from "./site-dir.ts";
import { countryNames, technicalFiles } from "./technical-files.ts";
import { ourTextModule, readTexts, type SiteTexts } from "./texts.ts";
import { writeSite } from "./write-site.ts";

type BuildResult = Awaited<ReturnType<ViteBuilder["build"]>>;

const SCRIPTS = { film: "app/film.ts", contact: "app/client.tsx" } as const;
/** The module that lists the pages in the folder. */
const PAGES_MODULE = "virtual:pages";
const PAGES_MODULE_ID = `\0${PAGES_MODULE}`;

/** Vite wraps each `import()` in a function that preloads other chunks and style sheets. This site has neither. */
const PRELOAD_HELPER_ID = "\0vite/preload-helper.js";
const PRELOAD_HELPER = "export const __vitePreload = (load) => load();";

/** Makes Chromium compile React eagerly and off the main thread, so that a slow phone can respond to its user. */
function postBanner({ name }: { name: string }): string {
  return name === "contact" ? "//# allFunctionsCalledOnLoad" : "";
}

/**
 * Turns the React components of `app/` into static pages: at build time into `dist/`, and in development on every
 * request.
 */
export function prerender({ outDir = "dist" }: { outDir?: string } = {}): PluginOption[] {
  return [companySettings(), sitePlugin(outDir)];
}

/** Everything that is written in Markdown. */
interface TextFiles {
  pageFiles: PageFiles;
  texts: SiteTexts;
}

function sitePlugin(outDir: string): Plugin {
  const draftDir = draftDirOf(outDir);
  let settings: BuildSettings;
  let pagesDir: string;
  /** Read again after a change. */
  let textFiles: Promise<TextFiles> | undefined;
  let isDraft: boolean;
  // scripts/dev.ts starts without pages if the build refuses one.
  let hasPages: boolean;
  const readFiles = () => {
    textFiles ??= readTextFiles(hasPages ? pagesDir : "", settings.siteDir);
    return textFiles;
  };
  return {
    name: "site",

    config({ server }, { mode }) {
      const parsed = parseBuildSettings(process.env);
      const problems = [...parsed.problems, ...siteDirProblems(parsed.settings.siteDir)];
      if (problems.length > 0) {
        console.error(problems.map((problem) => adviceLine(problem)).join("\n"));
        process.exit(1);
      }
      settings = parsed.settings;
      // `npm start` makes a draft, which only warns about claims that are open.
      isDraft = mode !== "production";
      pagesDir = join(siteFolder(settings.siteDir), "pages");
      // Vite may restart with other settings.
      textFiles = undefined;
      hasPages = mode !== "without-pages";
      const assetFileNames = ({ names }: { names: string[] }) =>
        names.some((name) => /\.(mp4|webm)$/.test(name))
          ? "media/[name]-[hash][extname]"
          : "assets/[name]-[hash][extname]";
      return {
        appType: "custom",
        // Vite ignores `dist/`, but not the drafts beside it. `null` means that Vite watches nothing.
        ...(server?.watch !== null && { server: { watch: { ignored: [`${resolve(outDir)}*/**`] } } }),
        build: {
          target: ["chrome117", "safari17", "ios17", "firefox125"],
          assetsInlineLimit: 0,
          modulePreload: false,
          // Hides warnings about a slow machine, and about the result of the estimate, which only the browser loads later.
          rolldownOptions: { checks: { bundlerTimings: false, ineffectiveDynamicImport: false } },
        },
        environments: {
          client: {
            build: {
              outDir: draftDir,
              emptyOutDir: true,
              rolldownOptions: { input: SCRIPTS, output: { postBanner } },
            },
          },
          ssr: {
            build: {
              // A new name each time: a process may build twice, and Node would not load the same path again.
              outDir: join(draftDir, `.renderer-${randomUUID()}`),
              ssr: true,
              emitAssets: true,
              cssMinify: "lightningcss",
              // Keeps the renderer's chunks out of the folder whose files are copied into the site.
              rolldownOptions: { input: "app/render.tsx", output: { assetFileNames, chunkFileNames: "[name].js" } },
            },
          },
          // What the server renders itself, in one file without dependencies.
          form: {
            consumer: "server",
            define: { "process.env.NODE_ENV": JSON.stringify("production") },
            resolve: { noExternal: true },
            build: {
              outDir: serverDir(draftDir),
              emptyOutDir: true,
              ssr: true,
              minify: true,
              rolldownOptions: {
                input: "app/contact/render-form.tsx",
                output: { entryFileNames: FORM_BUNDLE, codeSplitting: false },
              },
            },
          },
        },
        builder: {
          buildApp: (builder) =>
            replaceWhenBuilt(outDir, async () => buildSite(builder, settings, await readFiles(), draftDir, isDraft)),
        },
      };
    },

    resolveId(id) {
      return id === PAGES_MODULE ? PAGES_MODULE_ID : undefined;
    },

    async load(id) {
      if (id === PRELOAD_HELPER_ID) return PRELOAD_HELPER;
      if (id !== PAGES_MODULE_ID && !(id.startsWith(pagesDir + sep) && id.endsWith(".md"))) return;
      const { pages } = (await readFiles()).pageFiles;
      if (id === PAGES_MODULE_ID) return listPages(pages.map(({ file }) => file));
      return pages.find(({ file }) => file === id)?.code;
    },

    transform: {
      filter: { id: ["app/policies/*.md", "docs/*.md"] },
      handler: (text) => ({ code: ourTextModule(text), map: null }),
    },

    configureServer(server) {
      server.watcher.add(pagesDir);
      return () => serveDev(server, settings, readFiles);
    },

    // Pages contain no script that could replace a part of them, so they reload when a source changes.
    hotUpdate({ file, modules, server }) {
      if (this.environment.name !== "ssr") return;
      const isInPagesDir = resolve(file).startsWith(pagesDir + sep);
      // Also after a change of the settings, so that claims are read again.
      textFiles = undefined;
      if (isInPagesDir) this.environment.moduleGraph.invalidateAll();
      if (isInPagesDir || modules.length > 0) server.environments.client.hot.send({ type: "full-reload" });
    },
  };
}

async function readTextFiles(pagesDir: string, siteDir: string): Promise<TextFiles> {
  const [pageFiles, texts] = await Promise.all([readPageFiles(pagesDir), readTexts(siteDir, pagesDir)]);
  return { pageFiles, texts };
}

function listPages(files: readonly string[]): string {
  const imports = files.map((file, index) => `import page${index} from ${JSON.stringify(file)};`);
  return `${imports.join("\n")}\nexport const pages = [${files.map((_, index) => `page${index}`)}];\n`;
}

async function buildSite(
  builder: ViteBuilder,
  settings: BuildSettings,
  textFiles: TextFiles,
  outDir: string,
  isDraft: boolean,
): Promise<void> {
  if (process.stderr.isTTY) console.error("Building the pages ...");
  const wrongSettings = await settingsProblems(await readOwnSettings(settings.siteDir), settings.siteDir);
  if (wrongSettings.length > 0) throw problemsError(wrongSettings);
  const { client, ssr, form } = builder.environments;
  if (!client || !ssr || !form) throw new Error("Vite has no client, ssr or form environment.");
  const scripts = await takeScripts(await builder.build(client), outDir);
  await builder.build(ssr);
  await builder.build(form);

  const rendererDir = resolve(ssr.config.build.outDir);
  const renderer: Renderer = await import(pathToFileURL(join(rendererDir, "render.js")).href);
  const context = renderContext(settings, scripts);
  const { unset, open } = await writeSite({ renderer, context, ...textFiles, outDir, rendererDir, isDraft });
  // The renderer is not part of the site.
  await rm(rendererDir, { recursive: true });
  // After a draft, the server prints the command that lists these.
  if (unset.length > 0 && !isDraft)
    console.log(`To do before launch, shown as placeholders until then:\n  ${unset.join("\n  ")}`);
  if (open !== "") console.log(open);
  if (areFactorsDue(new Date())) console.log(`New factors for the footprint estimate are due; ${FACTORS_REMEDY}`);
}

/** Renders the page again on every request. */
function serveDev(server: ViteDevServer, settings: BuildSettings, readFiles: () => Promise<TextFiles>): void {
  const scripts = { film: { url: `/${SCRIPTS.film}` }, contact: { url: `/${SCRIPTS.contact}` } };
  const context = renderContext(settings, scripts);
  const drawFiles = async () => {
    const { site } = await loadRenderer(server);
    return technicalFiles(settings, [], site);
  };
  // Drawn once, because drawing icons is slow. After an error, the next request tries again.
  let files = drawFiles();
  const filesOrAgain = () => files.catch(() => (files = drawFiles()));
  files.catch(() => {});
  const folder = siteFolder(settings.siteDir);
  let warned = "";
  let checked: TextFiles | undefined;
  /** After each change, and only once about the same. */
  const warnOfClaims = async () => {
    const files = await readFiles();
    if (files === checked) return;
    checked = files;
    const { site } = await loadRenderer(server);
    const today = new Date().toISOString().slice(0, 10);
    const open = listOpen(await readClaims({ site, siteDir: settings.siteDir, texts: files.texts.texts, today }));
    if (open !== "" && open !== warned) server.config.logger.warn(open);
    warned = open;
  };

  server.middlewares.use(async (request, response, next) => {
    try {
      const path = decodeURI(new URL(request.url ?? "/", "http://localhost").pathname).replace(/(?!^)\/+$/, "");
      const respond = async (status: number, html: string) => {
        response.statusCode = status;
        response.setHeader("content-type", "text/html; charset=utf-8");
        response.end(await server.transformIndexHtml(path, html));
      };
      const { problems: unreadable } = await parseSettings(settings.siteDir);
      if (unreadable.length > 0) return await respond(500, problemsPage(unreadable));
      const own = await loadModule<{ site: Partial<SiteSettings> }>(server, join(folder, "site.ts"));
      const wrongSettings = await settingsProblems(own.site, settings.siteDir);
      if (wrongSettings.length > 0) return await respond(500, problemsPage(wrongSettings));
      const file = (await filesOrAgain()).find((one) => path === `/${one.file}`);
      if (file) {
        response.end(file.content);
        return;
      }
      const { renderPath, SPECIFIED_PATHS } = await loadRenderer(server);
      const { pageFiles, texts } = await readFiles();
      const { paths, problems } = pageFiles;
      const refused = [...problems, ...texts.problems, ...findPathProblems(paths, SPECIFIED_PATHS)];
      if (refused.length > 0) return await respond(500, problemsPage(refused));
      const html = await renderPath(path, context);
      await respond(200, html);
      await warnOfClaims().catch(({ message }: Error) => server.config.logger.warn(message));
    } catch (error) {
      next(error);
    }
  });
}

/** Shown until the problems are solved; then Vite reloads the page. */
function problemsPage(problems: readonly Problem[]): string {
  const text = escapeHtml(problemsError(problems).message);
  return `<!doctype html><html lang="en-GB"><title>Problems</title><body><pre style="white-space: pre-wrap">${text}</pre>`;
}

/** The film's script is small enough to inline. The contact form's script is a separate file. */
async function takeScripts(built: BuildResult, outDir: string): Promise<RenderContext["scripts"]> {
  const chunks = "output" in built ? built.output.filter((one) => one.type === "chunk") : [];
  const scriptOf = (name: keyof typeof SCRIPTS) => {
    const script = chunks.find((chunk) => chunk.isEntry && chunk.name === name);
    if (!script) throw new Error(`The build wrote no script for ${SCRIPTS[name]}.`);
    return script;
  };
  const film = scriptOf("film");
  await rm(join(outDir, film.fileName));
  return { film: { code: film.code.trim() }, contact: { url: `/${scriptOf("contact").fileName}` } };
}

function renderContext(settings: BuildSettings, scripts: RenderContext["scripts"]): RenderContext {
  const electricityUrl = `/${electricityFile().file}`;
  return { settings, scripts, electricityUrl, countries: countryNames() };
}
