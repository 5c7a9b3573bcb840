import { Fact } from "../policies/facts.tsx";
import { type SiteSettings, site } from "../site.ts";
import { CarbonFigure } from "./carbon-figure.tsx";
import { Mark } from "./mark.tsx";

type SocialNetwork = SiteSettings["social"][number]["network"];

/**
 * Our own line drawings on a 24-unit grid, with the same stroke and size. The link around an icon names the network.
 */
const SOCIAL_ICON: Readonly<Record<SocialNetwork, string>> = {
  Facebook: "M16.5 4h-1.25A3.75 3.75 0 0 0 11.5 7.75V20.5M7.5 12H15.5",
  Twitter:
    "M3.5 16.9c2.1 1.7 4.7 2.6 7.4 2.6 4.7 0 8.1-3.5 8.1-8.3v-.9l2-2.6-2.7.5a3.8 3.8 0 0 0-6.8 2.3v.9c-3 0-5.5-1.4-7.3-3.7-.8 2.5-.1 4.8 1.7 6.3-.7 0-1.3-.2-1.9-.5.3 1.5 1.2 2.5 2.6 3-.9.3-1.9.5-3.1.4Z",
  Instagram:
    "M8 4h8a4 4 0 0 1 4 4v8a4 4 0 0 1-4 4H8a4 4 0 0 1-4-4V8a4 4 0 0 1 4-4ZM12 8.75a3.25 3.25 0 1 1 0 6.5a3.25 3.25 0 1 1 0-6.5ZM16.5 7.5h.01",
  LinkedIn: "M5.5 10V20M5.5 5v.01M10.5 20V10M10.5 14.25c0-2.5 1.6-4.25 4-4.25s4 1.75 4 4.25V20",
};

export function Footer({ hasViews }: { hasViews: boolean }) {
  const { companyNumber, registeredAddress } = site.policyFacts;
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
            {(companyNumber || registeredAddress) && (
              <p>
                {companyNumber && (
                  <>
                    Company number <Fact name="companyNumber" />.{" "}
                  </>
                )}
                {registeredAddress && (
                  <>
                    Registered address: <Fact name="registeredAddress" />.
                  </>
                )}
              </p>
            )}
          </div>
          <CarbonFigure hasViews={hasViews} />
        </div>
      </div>
    </footer>
  );
}

function SocialIcon({ network }: { network: SocialNetwork }) {
  return (
    <svg className="social-icon" viewBox="0 0 24 24" width="24" height="24" aria-hidden="true">
      <path d={SOCIAL_ICON[network]} />
    </svg>
  );
}

function idOf(title: string): string {
  return `footer-${title.toLowerCase().replaceAll(/[^a-z]+/g, "-")}`;
}
