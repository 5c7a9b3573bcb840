import type { BuildSettings } from "../contract/build-settings.ts";
import type { Screen } from "./screen.ts";
import { site } from "./site.ts";

/** JSON-LD for search engines. Contains no `<`, so that no value can end the script element. */
export function structuredData({ headline, written }: Screen, path: string, { siteUrl }: BuildSettings): string {
  // Only profiles on other sites: the default links lead to the home page.
  const profiles = site.social.map(({ href }) => href).filter((href) => /^https?:/.test(href));
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
  const breadcrumbs = written && {
    "@type": "BreadcrumbList",
    itemListElement: [...written.parents, { label: headline, href: path }].map(({ label, href }, index) => ({
      "@type": "ListItem",
      position: index + 1,
      name: label,
      item: siteUrl + href,
    })),
  };
  const graph = [organization, ...(breadcrumbs ? [breadcrumbs] : [])];
  return JSON.stringify({ "@context": "https://schema.org", "@graph": graph }).replaceAll("<", "\\u003c");
}
