import { site } from "virtual:site";
import type { BuildSettings } from "../contract/build-settings.ts";
import { Footer } from "./components/footer.tsx";
import { Header } from "./components/header.tsx";
import displayFont from "./media/display.woff2?url";
import type { PageFetch, PageScript, RenderContext, Screen } from "./screen.ts";
import { hexColours, withHues } from "./styles/look.ts";
import siteStyles from "./styles/site.css?inline";

const { ground, darkGround } = hexColours(site.look);

/** Browsers prerender a page of this site while the pointer rests on its link, unless they save data. */
const SPECULATION_RULES = { prerender: [{ where: { href_matches: "/*" }, eagerness: "moderate" }] };

const ICON = { svg: "/favicon.svg", ico: "/favicon.ico" };
const WEB_MANIFEST = "/site.webmanifest";

type Script = PageScript & {
  /** Without one, it stands in the head and runs before the first paint. */
  type?: string;
  /** What `load-form.ts` loads. */
  form?: string;
};

/** What a page has besides its markup: the build weighs it, and allows it in the page's security policy. */
export interface PageParts {
  style: string;
  scripts: readonly Script[];
  fetches: readonly PageFetch[];
}

export function pageParts(screen: Screen, { settings, scripts }: RenderContext): PageParts {
  const { film, loadForm, form } = scripts;
  const ofScreen = screen.fetches?.(settings) ?? [];
  return {
    style: pageStyles(screen),
    scripts: [
      ...(screen.script === "form" ? [{ ...loadForm, form }] : []),
      { type: "speculationrules", code: JSON.stringify(SPECULATION_RULES) },
      ...(screen.script === "film" ? [{ type: "module", ...film }] : []),
    ],
    fetches: [
      { kind: "font", urls: [displayFont] },
      { kind: "picture", urls: [ICON.svg, ICON.ico] },
      { kind: "data", urls: [WEB_MANIFEST] },
      ...(screen.script === "form" ? [{ kind: "script", urls: [form] } as const] : []),
      ...ofScreen,
    ],
  };
}

function pageStyles({ styles, laterStyles = "" }: Screen): string {
  // Our own font has a fallback with its metrics. Another font shows only if it arrives before the text is painted.
  const own =
    site.look.displayFont === null ? siteStyles : siteStyles.replace(/font-display: ?swap/, "font-display:optional");
  const all = withHues(own + styles, site.look);
  const isUsed = (name: string) => all.includes(`var(${name})`) || laterStyles.includes(`var(${name})`);
  return all.replaceAll(/(?<=[{;])(--[\w-]+):[^;}]*;?/g, (declaration, name) => (isUsed(name) ? declaration : ""));
}

/** The picture that shows a link to this path on social networks. */
export const socialCard = (path: string) => `/assets/social${path === "/" ? "" : path}.jpg`;

interface DocumentProps {
  screen: Screen;
  /** `null` for Coming Soon and the failure page, which have no path of their own. */
  canonicalPath: string | null;
  parts: PageParts;
  context: RenderContext;
}

export function Document({ screen, canonicalPath, parts, context }: DocumentProps) {
  const { settings, weights = [] } = context;
  const weight = weights.find(({ page }) => page === (canonicalPath ?? screen.name));
  return (
    <html lang="en-GB">
      <head>
        <meta charSet="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>{screen.title}</title>
        <meta name="description" content={screen.description} />
        {!screen.isIndexed && <meta name="robots" content="noindex" />}
        <meta
          name="theme-color"
          content={screen.isHeaderOverlaid ? darkGround : ground}
          media="(prefers-color-scheme: light)"
        />
        <meta name="theme-color" content={darkGround} media="(prefers-color-scheme: dark)" />
        {/* Not on phones, where networks are slow: Chromium delays the first paint for a preloaded font. */}
        <link
          rel="preload"
          href={displayFont}
          as="font"
          type="font/woff2"
          crossOrigin="anonymous"
          media="(width>60rem)"
        />
        {screen.isPaintedWhole && <link rel="expect" href="#footer" blocking="render" />}
        <style>{parts.style}</style>
        {context.answered && <style>{screen.laterStyles}</style>}
        <Scripts scripts={parts.scripts.filter(({ type }) => !type)} />
        {canonicalPath !== null && <SharingTags screen={screen} siteUrl={settings.siteUrl} path={canonicalPath} />}
        {canonicalPath !== null && screen.isIndexed && (
          <script type="application/ld+json">{structuredData(screen, canonicalPath, settings)}</script>
        )}
        <link rel="icon" href={ICON.ico} sizes="32x32" />
        <link rel="icon" href={ICON.svg} type="image/svg+xml" />
        <link rel="apple-touch-icon" href="/favicon.png" />
        <link rel="manifest" href={WEB_MANIFEST} />
      </head>
      <body>
        <a className="skip-link" href="#main">
          Skip to the main content
        </a>
        <Header isOverlaid={screen.isHeaderOverlaid ?? false} />
        <main id="main" tabIndex={-1} className={`screen screen-${screen.name}`}>
          {screen.render(context)}
        </main>
        <Footer grams={weight?.grams ?? null} />
        <Scripts scripts={parts.scripts.filter(({ type }) => type)} />
      </body>
    </html>
  );
}

function Scripts({ scripts }: Pick<PageParts, "scripts">) {
  return scripts.map(({ type, code, src, form }) => (
    <script key={type ?? ""} type={type} src={src} data-form={form}>
      {code}
    </script>
  ));
}

function SharingTags({ screen, siteUrl, path }: { screen: Screen; siteUrl: string; path: string }) {
  const url = siteUrl + path;
  return (
    <>
      <link rel="canonical" href={url} />
      <meta property="og:type" content="website" />
      <meta property="og:site_name" content={site.brand} />
      <meta property="og:locale" content="en_GB" />
      <meta property="og:title" content={screen.title} />
      <meta property="og:description" content={screen.description} />
      <meta property="og:url" content={url} />
      <meta property="og:image" content={siteUrl + socialCard(path)} />
      <meta property="og:image:width" content="1200" />
      <meta property="og:image:height" content="630" />
      <meta
        property="og:image:alt"
        content={`${screen.headline}. ${site.heroPicture?.alt ?? "First light over hills with wind turbines and solar panels."}`}
      />
      <meta name="twitter:card" content="summary_large_image" />
    </>
  );
}

/** JSON-LD for search engines. Contains no `<`, so that no value can end the script element. */
function structuredData({ headline, parents }: Screen, path: string, { siteUrl }: BuildSettings): string {
  // Only profiles on other sites: the default links lead to the home page.
  const profiles = site.social.flatMap(({ href }) => (href && /^https?:/.test(href) ? href : []));
  const organization = {
    "@type": "Organization",
    "@id": `${siteUrl}/#organization`,
    name: site.brand,
    legalName: site.legalName,
    url: `${siteUrl}/`,
    logo: `${siteUrl}/favicon-512.png`,
    email: site.contactEmail,
    contactPoint: {
      "@type": "ContactPoint",
      contactType: "customer support",
      email: site.contactEmail,
      url: `${siteUrl}/contact`,
    },
    ...(profiles.length > 0 && { sameAs: profiles }),
  };
  const breadcrumbs = parents && {
    "@type": "BreadcrumbList",
    itemListElement: [...parents, { label: headline, href: path }].map(({ label, href }, index) => ({
      "@type": "ListItem",
      position: index + 1,
      name: label,
      item: siteUrl + href,
    })),
  };
  const graph = [organization, ...(breadcrumbs ? [breadcrumbs] : [])];
  return JSON.stringify({ "@context": "https://schema.org", "@graph": graph }).replaceAll("<", "\\u003c");
}
