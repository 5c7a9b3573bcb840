import type { SiteSettings } from "../app/site-schema.ts";
import { hexColours } from "../app/styles/look.ts";
import type { BuildSettings } from "../contract/build-settings.ts";
import LIST from "./countries.json" with { type: "json" };
import type { OutputFile } from "./output.ts";
import { drawIcons } from "./pictures.ts";

const YEAR_MS = 365 * 86_400_000;

export async function technicalFiles(
  { siteUrl }: BuildSettings,
  indexedPaths: readonly string[],
  site: SiteSettings,
): Promise<OutputFile[]> {
  return [
    { file: "robots.txt", content: `User-agent: *\nAllow: /\n\nSitemap: ${siteUrl}/sitemap.xml\n` },
    { file: "sitemap.xml", content: sitemap(indexedPaths.map((path) => siteUrl + path)) },
    { file: ".well-known/security.txt", content: securityText(siteUrl, site) },
    { file: "countries.json", content: countryList() },
    { file: "site.webmanifest", content: webManifest(site) },
    ...(await drawIcons(site.look)),
  ];
}

function sitemap(urls: readonly string[]): string {
  const items = urls.map((url) => `  <url><loc>${url}</loc></url>\n`).join("");
  return `<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n${items}</urlset>\n`;
}

function securityText(siteUrl: string, site: SiteSettings): string {
  // Of a day, so that two builds of a day are equal.
  const expires = `${new Date(Date.now() + YEAR_MS).toISOString().slice(0, 10)}T00:00:00Z`;
  return [
    `Contact: mailto:${site.contactEmail}`,
    `Expires: ${expires}`,
    "Preferred-Languages: en",
    `Canonical: ${siteUrl}/.well-known/security.txt`,
    "",
  ].join("\n");
}

export function countryNames(): { code: string; name: string }[] {
  return LIST.countries.map(({ cca2, name }) => ({ code: cca2, name }));
}

function countryList(): string {
  return JSON.stringify(LIST.countries.map(({ cca2, name }) => ({ cca2, name: { common: name } })));
}

function webManifest(site: SiteSettings): string {
  const { ground, ink } = hexColours(site.look);
  return JSON.stringify({
    name: site.brand,
    short_name: site.brand,
    description: site.footerTagline,
    lang: "en-GB",
    start_url: "/",
    display: "browser",
    background_color: ground,
    theme_color: ink,
    icons: [
      { src: "/favicon-192.png", sizes: "192x192", type: "image/png", purpose: "any" },
      { src: "/favicon-512.png", sizes: "512x512", type: "image/png", purpose: "any maskable" },
    ],
  });
}
