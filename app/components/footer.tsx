import { site } from "virtual:site";
import type { SiteSettings } from "../site-schema.ts";
import { Mark } from "./mark.tsx";
import { CARBON_PATH, pageScale, Ruler } from "./ruler.tsx";

/** Beside the pages that explain the figures. */
export const ACCESSIBILITY_PATH = "/assets/accessibility";

/** Our own line drawings. The link around an icon names the network. */
const SOCIAL_ICON: Readonly<Record<SiteSettings["social"][number]["network"], string>> = {
  Facebook: "M16.5 4H15q-3.5 0-3.5 3.5v13M7.5 12h8",
  Twitter:
    "M21 6.5c-.8.4-1.6.7-2.4.8a4 4 0 0 0-6.8 2.6c-3.3.1-6.1-1.3-8.3-4.3-.9 3.4.1 6.3 2.7 7.9-.8.1-1.6 0-2.3-.3.5 1.9 1.8 3.2 3.8 3.6-1.3 1-2.9 1.5-4.7 1.5 6.5 3.4 16.3.7 16.3-8.7.7-.8 1.3-1.8 1.7-3.1Z",
  Instagram: "M8 4h8q4 0 4 4v8q0 4-4 4H8q-4 0-4-4V8q0-4 4-4ZM12 8.75a3.25 3.25 0 1 1-.1 0ZM16.5 7.5h.01",
  LinkedIn: "M5.5 10v10M5.5 5v.01M10.5 20V10m0 4q0-4 4-4t4 4v6",
};

interface FigureProps {
  /** `null` until the build has weighed the page, and in development. */
  grams: number | null;
}

export function Footer({ grams }: FigureProps) {
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
            {site.social.map(
              ({ network, href }) =>
                href !== null && (
                  <li key={network}>
                    <a href={href} aria-label={network}>
                      <SocialIcon path={SOCIAL_ICON[network]} />
                    </a>
                  </li>
                ),
            )}
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
          <CarbonFigure grams={grams} />
          <div>
            <p>This site is provided by {site.legalName}.</p>
            {(companyNumber || registeredAddress) && (
              <p>
                {companyNumber && `Company number ${companyNumber}. `}
                {registeredAddress && `Registered address: ${registeredAddress}.`}
              </p>
            )}
          </div>
          <p>
            <a href={ACCESSIBILITY_PATH}>Accessibility</a>
          </p>
        </div>
      </div>
    </footer>
  );
}

function SocialIcon({ path }: { path: string }) {
  return (
    <svg className="icon social-icon" viewBox="0 0 24 24" width="24" height="24" aria-hidden="true">
      <path d={path} />
    </svg>
  );
}

function idOf(title: string): string {
  return `footer-${title.toLowerCase().replaceAll(/[^a-z]+/g, "-")}`;
}

/**
 * What a first view of the page emits at most, as the distance that a petrol car drives for the same grams, and to scale
 * on a ruler. On phones it is less, because they fetch a smaller film.
 */
export function CarbonFigure({ grams }: FigureProps) {
  const scale = pageScale(grams ?? 0);
  return (
    <div className="ruler">
      <Ruler figure={`${grams === null ? "#" : scale.distance} cm`} scales={[scale]}>
        by petrol car: about what loading this page emits at most (
        <span data-fact="grams">{grams?.toFixed(3) ?? "#.###"}</span> g CO₂e, model).{" "}
        <a href={CARBON_PATH}>How we count</a>
      </Ruler>
    </div>
  );
}
