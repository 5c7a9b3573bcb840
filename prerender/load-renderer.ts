import { isRunnableDevEnvironment, type ViteDevServer } from "vite";

export type Renderer = typeof import("../app/render.tsx");

/** Loads the renderer from its current sources. */
export function loadRenderer({ environments: { ssr } }: ViteDevServer): Promise<Renderer> {
  if (!ssr || !isRunnableDevEnvironment(ssr)) throw new Error("Vite's ssr environment cannot run modules.");
  return ssr.runner.import<Renderer>("/app/render.tsx");
}
