import { Footer } from "./components/footer.tsx";
import { Header } from "./components/header.tsx";
import { MARK_COLOUR } from "./components/mark.tsx";
import displayFont from "./media/display.woff2?url";
import type { PageScript, RenderContext } from "./render-context.ts";
import type { Screen } from "./screen.ts";
import { site } from "./site.ts";
import { socialCardPath } from "./social-card-path.ts";
import siteStyles from "./styles/site.css?inline";

/** A page of ours is prepared while the pointer rests on its link. Browsers that save data ignore this. */
const SPECULATION_RULES = { prerender: [{ where: { href_matches: "/*" }, eagerness: "moderate" }] };

interface DocumentProps {
  screen: Screen;
  /** `null` for pages that stand in where no page is. */
  canonicalPath: string | null;
  context: RenderContext;
}

/** A whole page: everything needed to paint it is in the one answer. */
export function Document({ screen, canonicalPath, context }: DocumentProps) {
  const { settings, scripts, footprintOf } = context;
  return (
    <html lang="en-GB">
      <head>
        <meta charSet="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>{screen.title}</title>
        <meta name="description" content={screen.description} />
        {!screen.isIndexed && <meta name="robots" content="noindex" />}
        <meta name="color-scheme" content="light dark" />
        <meta name="theme-color" content={MARK_COLOUR.light} media="(prefers-color-scheme: light)" />
        <meta name="theme-color" content={MARK_COLOUR.dark} media="(prefers-color-scheme: dark)" />
        <link rel="preload" href={displayFont} as="font" type="font/woff2" crossOrigin="anonymous" />
        <style>{siteStyles + screen.styles}</style>
        {canonicalPath !== null && <SharingTags screen={screen} url={settings.siteUrl + canonicalPath} />}
        <link rel="icon" href="/favicon.ico" sizes="32x32" />
        <link rel="icon" href="/favicon.svg" type="image/svg+xml" />
        <link rel="apple-touch-icon" href="/favicon.png" />
        <link rel="manifest" href="/site.webmanifest" />
      </head>
      <body>
        <a className="skip-link" href="#main">
          Skip to the main content
        </a>
        <Header isOverlaid={screen.isHeaderOverlaid ?? false} />
        <main id="main" tabIndex={-1} className={`screen screen-${screen.name}`}>
          {screen.render(settings)}
        </main>
        <Footer footprint={footprintOf(canonicalPath ?? screen.name)} />
        <script type="speculationrules">{JSON.stringify(SPECULATION_RULES)}</script>
        {screen.script && <PageScriptTag script={scripts[screen.script]} />}
      </body>
    </html>
  );
}

function SharingTags({ screen, url }: { screen: Screen; url: string }) {
  return (
    <>
      <link rel="canonical" href={url} />
      <meta property="og:type" content="website" />
      <meta property="og:site_name" content={site.brand} />
      <meta property="og:locale" content="en_GB" />
      <meta property="og:title" content={screen.title} />
      <meta property="og:description" content={screen.description} />
      <meta property="og:url" content={url} />
      <meta property="og:image" content={new URL(socialCardPath(url), url).href} />
      <meta property="og:image:width" content="1200" />
      <meta property="og:image:height" content="630" />
      <meta
        property="og:image:alt"
        content={`${screen.headline}. First light over hills with wind turbines and solar panels.`}
      />
      <meta name="twitter:card" content="summary_large_image" />
      <meta name="twitter:title" content={screen.title} />
      <meta name="twitter:description" content={screen.description} />
    </>
  );
}

function PageScriptTag({ script }: { script: PageScript }) {
  const code =
    "code" in script
      ? script.code
      : // Fetched once the page is up, painted and looked at: until then it works as plain HTML.
        `{const f=()=>requestAnimationFrame(()=>requestAnimationFrame(()=>(self.requestIdleCallback||setTimeout)(()=>import(${JSON.stringify(script.url)}))));document.prerendering?document.addEventListener("prerenderingchange",f):addEventListener("load",f)}`;
  return <script type="module">{code}</script>;
}
