import { Writable } from "node:stream";
import { prerenderToNodeStream } from "react-dom/static";
import { Document } from "./document.tsx";
import type { RenderContext } from "./render-context.ts";
import { COMING_SOON, FAILURE, ROUTES } from "./routes.ts";
import type { Screen } from "./screen.ts";

export { ROUTES };

export interface RenderedPage {
  /** Its first path, or its screen's name where it has no path. */
  name: string;
  /** The paths that show it; none for a page that stands in where no page is. */
  paths: readonly string[];
  isIndexed: boolean;
  headline: string;
  html: string;
}

/** Renders every page of the site: those of the route table, Coming Soon, and the failure page. */
export async function renderSite(context: RenderContext) {
  const render = async (screen: Screen, paths: readonly string[]): Promise<RenderedPage> => {
    const { isIndexed, headline } = screen;
    const html = await renderScreen(screen, paths[0] ?? null, context);
    return { name: paths[0] ?? screen.name, paths, isIndexed, headline, html };
  };
  return {
    pages: await Promise.all(ROUTES.map(({ screen, paths }) => render(screen, paths))),
    comingSoon: await render(COMING_SOON, []),
    failure: await render(FAILURE, []),
  };
}

/** Renders the page that a path shows; the path is decoded and has no trailing slash. */
export function renderPath(path: string, context: RenderContext): Promise<string> {
  const route = ROUTES.find(({ paths }) => paths.includes(path));
  return route ? renderScreen(route.screen, route.paths[0], context) : renderScreen(COMING_SOON, null, context);
}

async function renderScreen(screen: Screen, canonicalPath: string | null, context: RenderContext): Promise<string> {
  const { prelude } = await prerenderToNodeStream(
    <Document screen={screen} canonicalPath={canonicalPath} context={context} />,
    { onError: () => {} },
  );
  let html = "";
  const collect = new Writable({
    write(chunk, _encoding, done) {
      html += String(chunk);
      done();
    },
  });
  await new Promise((resolve, reject) => prelude.pipe(collect).on("finish", resolve).on("error", reject));
  return html;
}
