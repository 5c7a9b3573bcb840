import { Fact } from "../policies/facts.tsx";
import { type SiteSettings, site } from "../site.ts";
import { CarbonFigure } from "./carbon-figure.tsx";
import { Mark } from "./mark.tsx";

type SocialNetwork = SiteSettings["social"][number]["network"];

/** Line drawings of our own on a 24 unit grid, of one stroke each and alike in size; the link around one has its name. */
const SOCIAL_ICON: Readonly<Record<SocialNetwork, string>> = {
  Facebook: "M16.500 4h-1.250A3.750 3.750 0 0 0 11.500 7.750V20.500M7.500 12H15.500",
  Twitter:
    "M3.500 16.900c2.100 1.700 4.700 2.600 7.400 2.600 4.700 0 8.100-3.500 8.100-8.300v-.9l2-2.600-2.700.5a3.800 3.800 0 0 0-6.800 2.300v.9c-3 0-5.500-1.400-7.300-3.700-.8 2.500-.1 4.800 1.700 6.300-.7 0-1.300-.2-1.900-.5.300 1.500 1.200 2.500 2.600 3-.9.300-1.900.5-3.100.4Z",
  Instagram:
    "M8 4h8a4 4 0 0 1 4 4v8a4 4 0 0 1-4 4H8a4 4 0 0 1-4-4V8a4 4 0 0 1 4-4ZM12 8.750a3.250 3.250 0 1 1 0 6.500a3.250 3.250 0 1 1 0-6.500ZM16.500 7.500h.01",
  LinkedIn: "M5.500 10V20M5.500 5v.01M10.500 20V10M10.500 14.250c0-2.500 1.600-4.250 4-4.250s4 1.750 4 4.250V20",
};

export function Footer({ hasFilm }: { hasFilm: boolean }) {
  return (
    <footer id="footer" className="footer">
      <div className="footer-inner">
        <div className="footer-brand">
          <a className="logo" href="/" aria-label={`${site.brand}, home`}>
            <Mark />
            <span className="wordmark">{site.brand}</span>
          </a>
          <p className="footer-tagline">{site.footerTagline}</p>
          <ul className="social">
            {site.social.map(({ network, href }) => (
              <li key={network}>
                <a href={href} aria-label={network}>
                  <SocialIcon network={network} />
                </a>
              </li>
            ))}
          </ul>
        </div>
        {site.footerColumns.map((column) => (
          <nav key={column.title} className="footer-column" aria-labelledby={idOf(column.title)}>
            <h2 id={idOf(column.title)}>{column.title}</h2>
            <ul>
              {column.links.map((link) => (
                <li key={link.href}>
                  <a href={link.href}>{link.label}</a>
                </li>
              ))}
            </ul>
          </nav>
        ))}
        <div className="footer-end">
          <div>
            <p>This site is provided by {site.legalName}.</p>
            <p>
              Company number <Fact name="companyNumber" />. Registered address: <Fact name="registeredAddress" />.
            </p>
          </div>
          <CarbonFigure hasFilm={hasFilm} />
        </div>
      </div>
    </footer>
  );
}

function SocialIcon({ network }: { network: SocialNetwork }) {
  return (
    <svg className="social-icon" viewBox="0 0 24 24" width="24" height="24" aria-hidden="true" focusable="false">
      <path d={SOCIAL_ICON[network]} />
    </svg>
  );
}

function idOf(title: string): string {
  return `footer-${title.toLowerCase().replaceAll(/[^a-z]+/g, "-")}`;
}
