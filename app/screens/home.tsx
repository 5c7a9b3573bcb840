import { FilmControls, HeroFilm, heroFilmFetches } from "../components/hero-film.tsx";
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
  render: ({ settings, isSavingData }) => <Home siteUrl={settings.siteUrl} isSavingData={isSavingData} />,
};

function Home({ siteUrl, isSavingData }: { siteUrl: string; isSavingData: boolean }) {
  const owner = [site.legalName, site.policyFacts.registeredAddress, siteUrl].filter(Boolean).join(", ");
  return (
    <div className="hero">
      <HeroFilm film={site.heroFilm} isSavingData={isSavingData} />
      <FilmControls film={site.heroFilm} isSavingData={isSavingData} />
      <p className="print-only">{owner}</p>
      <div className="hero-text">
        <h1>{home.headline}</h1>
        <p className="hero-subtitle">{site.hero.subtitle}</p>
        <p className="hero-line">{site.hero.line}</p>
        <ButtonLink link={site.startOffsetting} look="primary" />
        <p className="hero-caption">{site.hero.caption}</p>
        <p className="hero-more">{site.hero.more}</p>
      </div>
    </div>
  );
}
