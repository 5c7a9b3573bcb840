import { isRunnableDevEnvironment, type ViteDevServer } from "vite";

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
