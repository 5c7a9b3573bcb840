import { createServer, isRunnableDevEnvironment, type ViteDevServer } from "vite";
import { parseBuildSettings } from "../contract/build-settings.ts";

export type Renderer = typeof import("../app/render.tsx");

/** Loads the renderer from its current sources. */
export function loadRenderer(server: ViteDevServer): Promise<Renderer> {
  return loadModule(server, "/app/render.tsx");
}

/** Loads a module from its current source. */
export function loadModule<Module>({ environments: { ssr } }: ViteDevServer, path: string): Promise<Module> {
  if (!ssr || !isRunnableDevEnvironment(ssr)) throw new Error("Vite's ssr environment cannot run modules.");
  return ssr.runner.import<Module>(path);
}

/** Renders the site without building it. The file adds variables to the current ones. */
export async function renderFromSources(variablesFile?: string) {
  if (variablesFile) process.loadEnvFile(variablesFile);
  const server = { middlewareMode: true, ws: false, watch: null } as const;
  const vite = await createServer({ logLevel: "warn", server, optimizeDeps: { noDiscovery: true } });
  const { renderSite } = await loadRenderer(vite);
  const { settings } = parseBuildSettings(process.env);
  const scripts = { film: { code: "" }, contact: { url: "" } };
  const rendered = await renderSite({ settings, scripts, electricityUrl: "", isSavingData: false });
  await vite.close();
  const { pages, comingSoon, failure } = rendered;
  return { ...rendered, pages: [...pages, comingSoon, failure] };
}
