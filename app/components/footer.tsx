import { Fact } from "../policies/facts.tsx";
import { type SiteSettings, site } from "../site.ts";
import { CarbonFigure } from "./carbon-figure.tsx";
import { Mark } from "./mark.tsx";

type SocialNetwork = SiteSettings["social"][number]["network"];

/** Plain line drawings on a 24 unit grid; the link around an icon carries its name. */
const SOCIAL_ICON: Readonly<Record<SocialNetwork, string>> = {
  Facebook:
    "M13.500 21v-7.500h3l.5-3.500h-3.500V8c0-1.200.5-1.750 1.750-1.750H17V3.200C16.500 3.100 15.600 3 14.600 3 11.900 3 10 4.600 10 7.600V10H7v3.500h3V21",
  Twitter: "M4 4l16 16M20 4 4 20M4 4h3.500L20 20h-3.500Z",
  Instagram:
    "M8 3.500h8A4.500 4.500 0 0 1 20.500 8v8a4.500 4.500 0 0 1-4.500 4.500H8A4.500 4.500 0 0 1 3.500 16V8A4.500 4.500 0 0 1 8 3.500ZM12 8.250a3.750 3.750 0 1 1 0 7.500a3.750 3.750 0 1 1 0-7.500ZM17 7h.01",
  LinkedIn: "M5 9.500V20M5 4.500v.01M10 20V9.500M10 14c0-2.700 1.700-4.500 4.200-4.500S18.500 11 18.500 14v6",
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
