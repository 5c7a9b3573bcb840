import { HeroFilm, heroFilmFetches } from "../components/hero-film.tsx";
import { ButtonLink } from "../components/links.tsx";
import type { Screen } from "../screen.ts";
import { site } from "../site.ts";
import styles from "../styles/home.css?inline";

export const home: Screen = {
  name: "home",
  title: `${site.brand}: ${site.footerTagline}`,
  headline: site.hero.headline,
  description: site.hero.description,
  isIndexed: true,
  isHeaderOverlaid: true,
  isPaintedWhole: true,
  styles,
  ...(site.heroFilm !== "off" && { script: "film" }),
  fetches: () => heroFilmFetches(site.heroFilm),
  render: ({ settings }) => <Home siteUrl={settings.siteUrl} />,
};

function Home({ siteUrl }: { siteUrl: string }) {
  const owner = [site.legalName, site.policyFacts.registeredAddress, siteUrl].filter(Boolean).join(", ");
  return (
    <div className="hero">
      <HeroFilm film={site.heroFilm} />
      <p className="print-only">{owner}</p>
      <div className="hero-text">
        <h1>{home.headline}</h1>
        <p className="hero-subtitle">{site.hero.subtitle}</p>
        <div className="hero-offer">
          <p>{site.hero.line}</p>
          <ButtonLink link={site.startOffsetting} look="primary" />
        </div>
        <p className="hero-more">{site.hero.more}</p>
      </div>
    </div>
  );
}
