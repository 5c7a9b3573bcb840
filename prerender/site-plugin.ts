import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { join, resolve, sep } from "node:path";
import { pathToFileURL } from "node:url";
import { isRunnableDevEnvironment, type Plugin, type PluginOption, type ViteBuilder, type ViteDevServer } from "vite";
import type { RenderContext } from "../app/screen.ts";
import { FORM_BUNDLE, serverDir, TECHNICAL_PATH } from "../contract/build-manifest.ts";
import { type BuildSettings, parseBuildSettings } from "../contract/build-settings.ts";
import { adviceLine } from "../contract/commands.ts";
import { escapeHtml } from "../contract/text.ts";
import { listOpen, readClaims } from "./claims.ts";
import { type OutputFile, replaceWhenBuilt } from "./output.ts";
import {
  type CompanySettings,
  companySettings,
  problemsError,
  readSettings,
  settingsProblems,
  siteDirProblems,
  siteFolder,
} from "./site-dir.ts";
import { countryNames, technicalFiles } from "./technical-files.ts";
import { findPathProblems, readTexts, type SiteTexts } from "./texts.ts";
import { writeSite } from "./write-site.ts";

type Renderer = typeof import("../app/render.tsx");

const SCRIPTS = { film: "app/film.ts", loadForm: "app/load-form.ts", contact: "app/client.tsx" } as const;
const TEXTS = "virtual:texts";
const TEXTS_ID = `\0${TEXTS}`;

/** Vite wraps each `import()` in a function that preloads other chunks and style sheets. This site has neither. */
const PRELOAD_HELPER_ID = "\0vite/preload-helper.js";
const PRELOAD_HELPER = "export const __vitePreload = (load) => load();";

/** Makes Chromium compile React eagerly and off the main thread, so that a slow phone can respond to its user. */
function postBanner({ name }: { name: string }): string {
  return name === "contact" ? "//# allFunctionsCalledOnLoad" : "";
}

/** Writes static pages: at build time into `dist/`, in development on every request. */
export function prerender({ distDir = "dist" }: { distDir?: string } = {}): PluginOption[] {
  return [companySettings(), sitePlugin(distDir)];
}

function sitePlugin(distDir: string): Plugin {
  const draftDir = join(distDir, ".site-draft");
  let settings: BuildSettings;
  let pagesDir: string;
  let company: Company | undefined;
  let isDraft: boolean;
  const readCompany = () => {
    company ??= { settings: readSettings(settings.siteDir), texts: readTexts(settings.siteDir) };
    return company;
  };
  return {
    name: "site",

    config(_, { mode, command }) {
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
      company = undefined;
      const assetFileNames = ({ names }: { names: string[] }) =>
        names.some((name) => /\.(mp4|webm)$/.test(name))
          ? "media/[name]-[hash][extname]"
          : "assets/[name]-[hash][extname]";
      return {
        appType: "custom",
        build: {
          target: ["chrome117", "safari17", "ios17", "firefox125"],
          assetsInlineLimit: 0,
          modulePreload: false,
          // Hides warnings about a slow machine, and about the result of the estimate, which only the browser loads later.
          rolldownOptions: { checks: { bundlerTimings: false, ineffectiveDynamicImport: false } },
        },
        environments: {
          client: {
            // React without its developer tools and its indicator of navigations, which the contact page never uses.
            define: command === "build" ? { __REACT_DEVTOOLS_GLOBAL_HOOK__: "undefined", navigation: "undefined" } : {},
            build: { write: false, rolldownOptions: { input: SCRIPTS, output: { postBanner } } },
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
            replaceWhenBuilt(distDir, draftDir, async () =>
              buildSite(builder, settings, readCompany(), draftDir, isDraft),
            ),
        },
      };
    },

    resolveId(id) {
      return id === TEXTS ? TEXTS_ID : undefined;
    },

    async load(id) {
      if (id === PRELOAD_HELPER_ID) return PRELOAD_HELPER;
      if (id !== TEXTS_ID) return;
      const { texts, module } = await readCompany().texts;
      for (const { file } of texts) this.addWatchFile(resolve(file));
      return module;
    },

    configureServer(server) {
      server.watcher.add(pagesDir);
      return () => serveDev(server, settings, readCompany);
    },

    // Pages contain no script that could replace a part of them, so they reload when a source changes.
    hotUpdate({ file, modules, server }) {
      if (this.environment.name !== "ssr") return;
      const isInPagesDir = resolve(file).startsWith(pagesDir + sep);
      // Also after a change of the settings, so that claims are read again.
      company = undefined;
      if (isInPagesDir) this.environment.moduleGraph.invalidateAll();
      if (isInPagesDir || modules.length > 0) server.environments.client.hot.send({ type: "full-reload" });
    },
  };
}

/** What belongs to the company, as it is now. */
interface Company {
  settings: Promise<CompanySettings>;
  texts: Promise<SiteTexts>;
}

async function buildSite(
  builder: ViteBuilder,
  settings: BuildSettings,
  company: Company,
  distDir: string,
  isDraft: boolean,
): Promise<void> {
  if (process.stderr.isTTY) console.error("Building the pages ...");
  const [own, texts] = await Promise.all([company.settings, company.texts]);
  const wrongSettings = await settingsProblems(own.site, settings.siteDir);
  if (wrongSettings.length > 0) throw problemsError(wrongSettings);
  const { client, ssr, form } = builder.environments;
  if (!client || !ssr || !form) throw new Error("Vite has no client, ssr or form environment.");
  const chunks = outputOf(await builder.build(client)).filter((one) => one.type === "chunk");
  const assets = outputOf(await builder.build(ssr)).filter((one) => one.type === "asset");
  await builder.build(form);
  const entries = ["film", "loadForm", "contact"].map((name) => chunks.find((one) => one.isEntry && one.name === name));
  const [film, loadForm, contact] = entries;
  if (!film || !loadForm || !contact) throw new Error("The build made no script for the film or the form.");
  // The first two are small enough to inline.
  const files = chunks.filter((one) => one !== film && one !== loadForm);
  const emitted = [
    ...files.map(({ fileName, code }) => ({ file: fileName, content: code })),
    ...assets.map(({ fileName, source }) => ({ file: fileName, content: source })),
  ];

  const rendererDir = resolve(ssr.config.build.outDir);
  const renderer: Renderer = await import(pathToFileURL(join(rendererDir, "render.js")).href);
  const scripts = {
    film: { code: film.code.trim() },
    loadForm: { code: loadForm.code.trim() },
    form: `/${contact.fileName}`,
  };
  const context = renderContext(settings, scripts);
  await writeSite({ renderer, context, company: own, texts, emitted, distDir, isDraft });
  await rm(rendererDir, { recursive: true });
}

function outputOf(built: Awaited<ReturnType<ViteBuilder["build"]>>) {
  return "output" in built ? [...built.output] : [];
}

export function loadRenderer({ environments: { ssr } }: ViteDevServer): Promise<Renderer> {
  if (!ssr || !isRunnableDevEnvironment(ssr)) throw new Error("Vite's ssr environment cannot run modules.");
  return ssr.runner.import("/app/render.tsx");
}

function serveDev(server: ViteDevServer, settings: BuildSettings, readCompany: () => Company): void {
  const { film, loadForm, contact } = SCRIPTS;
  const scripts = { film: { src: `/${film}` }, loadForm: { src: `/${loadForm}` }, form: `/${contact}` };
  const context = renderContext(settings, scripts);
  /** Drawn once for each state of the settings, because drawing icons is slow. */
  const drawn = new WeakMap<CompanySettings, Promise<OutputFile[]>>();
  let checked: SiteTexts | undefined;
  /** Once after each change. */
  const warnOfClaims = async (own: CompanySettings, texts: SiteTexts) => {
    if (texts === checked) return;
    checked = texts;
    const open = listOpen(await readClaims({ ...own, siteDir: settings.siteDir, texts: texts.texts }));
    if (open !== "") server.config.logger.warn(open);
  };

  server.middlewares.use(async (request, response, next) => {
    try {
      const path = decodeURI(new URL(request.url ?? "/", "http://localhost").pathname).replace(/(?!^)\/+$/, "");
      const respond = async (status: number, html: string) => {
        response.statusCode = status;
        response.setHeader("content-type", "text/html; charset=utf-8");
        response.end(await server.transformIndexHtml(path, html));
      };
      const company = readCompany();
      const own = await company.settings.catch((error: Error) => error);
      if (own instanceof Error) return await respond(500, problemsPage(own));
      const wrongSettings = await settingsProblems(own.site, settings.siteDir);
      if (wrongSettings.length > 0) return await respond(500, problemsPage(problemsError(wrongSettings)));
      const renderer = await loadRenderer(server);
      if (TECHNICAL_PATH.test(path)) {
        const files = drawn.get(own) ?? technicalFiles(settings, [], own.site);
        drawn.set(own, files);
        const file = (await files).find((one) => path === `/${one.file}`);
        if (file) return void response.end(file.content);
      }
      const texts = await company.texts;
      const refused = [...texts.problems, ...findPathProblems(texts.pages, renderer.SPECIFIED_PATHS)];
      if (refused.length > 0) return await respond(500, problemsPage(problemsError(refused)));
      await respond(200, await renderer.renderPath(path, context));
      await warnOfClaims(own, texts).catch(({ message }: Error) => server.config.logger.warn(message));
    } catch (error) {
      next(error);
    }
  });
}

function problemsPage({ message }: Error): string {
  const text = escapeHtml(message);
  return `<!doctype html><html lang="en-GB"><title>Problems</title><body><pre style="white-space: pre-wrap">${text}</pre>`;
}

function renderContext(settings: BuildSettings, scripts: RenderContext["scripts"]): RenderContext {
  return { settings, scripts, countries: countryNames() };
}
