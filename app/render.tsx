import { text } from "node:stream/consumers";
import { site } from "virtual:site";
import { prerenderToNodeStream } from "react-dom/static";
import { COMING_SOON_PAGE, FAILURE_PAGE, type FormOfBuild } from "../contract/build-manifest.ts";
import { type AnsweredPost, bareReceipt } from "../contract/send-email-answer.ts";
import { CARBON_PATH } from "./components/ruler.tsx";
import { startState } from "./contact/form-state.ts";
import { formTitle } from "./contact/form-view.ts";
import { Document, type PageParts, pageParts, socialCard } from "./document.tsx";
import { COMING_SOON, FAILURE, ROUTES, SPECIFIED_PATHS } from "./routes.ts";
import type { PageFetch, RenderContext, Screen } from "./screen.ts";
import { contact, formSettings } from "./screens/contact.tsx";
import { carbon } from "./screens/text-pages.tsx";

export { CARBON_PATH, ROUTES, SPECIFIED_PATHS, socialCard };

/** A page and everything else that the build needs, so that the build need not search the HTML. */
export interface RenderedPage {
  /** Its first path, or its screen's name if it has no path. */
  name: string;
  /** Those in `dist/site/` that contain it: for each path a folder's index.html, which every static host serves at the path. */
  files: readonly string[];
  /** The Markdown file with its text, if there is one. */
  source: string | null;
  html: string;
  /** The exact text of every style and script written into the HTML, or into an answer that the page shows. */
  inlineStyles: readonly string[];
  inlineScripts: readonly string[];
  fetches: readonly PageFetch[];
  headline: string;
}

/** Every page but the one about carbon, which lists the figures of the others. */
export function renderPages(context: RenderContext): Promise<RenderedPage[]> {
  const routes = ROUTES.filter(({ screen }) => screen !== carbon);
  return Promise.all([
    ...routes.map(({ screen, paths }) => renderPage(screen, paths, context)),
    renderPage(COMING_SOON, [], context, [COMING_SOON_PAGE]),
    renderPage(FAILURE, [], context, [FAILURE_PAGE]),
  ]);
}

export function renderCarbonPage(context: RenderContext): Promise<RenderedPage> {
  return renderPage(carbon, [CARBON_PATH], context);
}

export async function renderAnswerPages(context: RenderContext): Promise<FormOfBuild> {
  const pageOf = (answered: AnsweredPost) => {
    const title = formTitle(startState(answered), site.brand);
    const screen = { ...contact, title };
    return renderHtml(screen, "/contact", pageParts(contact, context), { ...context, answered: answered.kind });
  };
  return {
    settings: formSettings(context),
    countries: context.countries ?? [],
    pages: {
      sent: await pageOf({ kind: "sent", receipt: bareReceipt("") }),
      refused: await pageOf({ kind: "refused", error: "", errors: {}, values: {} }),
    },
  };
}

export function renderPath(path: string, context: RenderContext): Promise<string> {
  const route = ROUTES.find(({ paths }) => paths.includes(path));
  const screen = route?.screen ?? COMING_SOON;
  return renderHtml(screen, route?.paths[0] ?? null, pageParts(screen, context), context);
}

async function renderPage(
  screen: Screen,
  paths: readonly string[],
  context: RenderContext,
  files = paths.map((path) => `${path}/index.html`.replace(/^\/+/, "")),
): Promise<RenderedPage> {
  const path = paths[0] ?? null;
  const parts = pageParts(screen, context);
  const html = await renderHtml(screen, path, parts, context);
  return {
    name: path ?? screen.name,
    files,
    source: screen.file ?? null,
    html,
    // The answer to a post has the policy of its page.
    inlineStyles: [parts.style, ...(screen.laterStyles ? [screen.laterStyles] : [])],
    inlineScripts: parts.scripts.flatMap(({ code }) => code ?? []),
    fetches: parts.fetches,
    headline: screen.headline,
  };
}

async function renderHtml(
  screen: Screen,
  canonicalPath: string | null,
  parts: PageParts,
  context: RenderContext,
): Promise<string> {
  const failures: unknown[] = [];
  const { prelude } = await prerenderToNodeStream(
    <Document screen={screen} canonicalPath={canonicalPath} parts={parts} context={context} />,
    {
      onError: (error) => void failures.push(error),
      // Keeps all parts in place. Otherwise React would write large lazy parts at the end of the page and move them
      // back with a script.
      progressiveChunkSize: Number.POSITIVE_INFINITY,
    },
  );
  // If a lazy part fails, React leaves it out without throwing.
  if (failures.length > 0) throw failures[0];
  return text(prelude);
}
