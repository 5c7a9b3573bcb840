import type { Footprint } from "../render-context.ts";
import { site } from "../site.ts";
import { Mark } from "./mark.tsx";
import { PageFootprint } from "./page-footprint.tsx";
import { SocialIcon } from "./social-icon.tsx";

export function Footer({ footprint }: { footprint: Footprint | null }) {
  return (
    <footer className="footer">
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
          <p>This site is provided by {site.legalName}.</p>
          {footprint && <PageFootprint footprint={footprint} />}
        </div>
      </div>
    </footer>
  );
}

function idOf(title: string): string {
  return `footer-${title.toLowerCase().replaceAll(/[^a-z]+/g, "-")}`;
}
