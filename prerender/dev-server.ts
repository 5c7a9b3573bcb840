import { isRunnableDevEnvironment, type ViteDevServer } from "vite";
import type { RenderContext } from "../app/render-context.ts";
import type { Renderer } from "./site-plugin.ts";
import { technicalFiles } from "./technical-files.ts";

/** Renders the page anew on every request and reloads open pages when a file they were made from changes. */
export function serveDev(server: ViteDevServer, context: RenderContext): void {
  const { ssr } = server.environments;
  if (!ssr || !isRunnableDevEnvironment(ssr)) throw new Error("Vite's ssr environment cannot run modules.");
  const load = () => ssr.runner.import<Renderer>("/app/render.tsx");

  server.watcher.on("change", () => server.ws.send({ type: "full-reload" }));
  server.middlewares.use(async (request, response, next) => {
    try {
      const path = decodeURI(new URL(request.url ?? "/", "http://localhost").pathname).replace(/(?!^)\/+$/, "");
      const { renderPath } = await load();
      const file = (await technicalFiles(context.settings, [])).find(([name]) => path === `/${name}`);
      if (file) {
        response.end(file[1]);
        return;
      }
      const html = await renderPath(path, context);
      response.setHeader("content-type", "text/html; charset=utf-8");
      response.end(await server.transformIndexHtml(path, html));
    } catch (error) {
      next(error);
    }
  });
}
