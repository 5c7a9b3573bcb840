import type { RenderContext } from "../app/render-context.ts";
import { carbonOf, type PageCarbon, pagesTooHeavy } from "./carbon.ts";
import { weighPage } from "./page-weight.ts";
import type { Renderer } from "./site-plugin.ts";

type RenderedSite = Awaited<ReturnType<Renderer["renderSite"]>>;

/**
 * Renders the site with each page's own footprint in its footer, once everything a page fetches lies in `outDir`. Pages
 * are rendered twice: to be weighed, and to say what they weigh, which is as long as the zeros it replaces. Rejects when
 * a page is too heavy.
 */
export async function renderWeighed(
  renderer: Renderer,
  context: RenderContext,
  outDir: string,
): Promise<RenderedSite & { carbon: readonly PageCarbon[] }> {
  const draft = await renderer.renderSite({ ...context, footprintOf: () => ({ grams: 0, gramsWithoutFilm: 0.001 }) });
  const carbon = await Promise.all(
    [...draft.pages, draft.comingSoon, draft.failure].map(async ({ name, html }) =>
      carbonOf(name, await weighPage(name, html, outDir)),
    ),
  );
  const tooHeavy = pagesTooHeavy(carbon);
  if (tooHeavy.length > 0) throw new Error(`${tooHeavy.join("\n")}\nMake them lighter; docs/carbon.md says why.`);
  const footprints = new Map(carbon.map((one) => [one.page, one]));
  return {
    ...(await renderer.renderSite({ ...context, footprintOf: (page) => footprints.get(page) ?? null })),
    carbon,
  };
}
