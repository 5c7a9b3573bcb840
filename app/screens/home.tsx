import { FilmControls, HeroFilm, heroFilmFetches } from "../components/hero-film.tsx";
import { ButtonLink } from "../components/links.tsx";
import type { Screen } from "../screen.ts";
import { site } from "../site.ts";
import styles from "../styles/home.css?inline";

export const home: Screen = {
  name: "home",
  title: `${site.brand}: ${site.footerTagline}`,
  headline: "Accelerate your path to net zero",
  description:
    "Carbon offsetting and renewable energy credits for businesses and individuals. Support solar and wind projects on your path to net zero.",
  isIndexed: true,
  isHeaderOverlaid: true,
  isPaintedWhole: true,
  styles,
  ...(site.heroFilm !== "off" && { script: "film" }),
  fetches: () => heroFilmFetches(site.heroFilm),
  render: ({ isSavingData }) => <Home isSavingData={isSavingData} />,
};

function Home({ isSavingData }: { isSavingData: boolean }) {
  return (
    <div className="hero">
      <HeroFilm film={site.heroFilm} isSavingData={isSavingData} />
      <div className="hero-text">
        <h1>{home.headline}</h1>
        <p className="hero-subtitle">
          Invest in a sustainable future with cost-effective carbon offsetting and renewable energy credits.
        </p>
        <p className="hero-line">
          Support renewable power projects to help neutralise the carbon footprint you cannot cut yet.
        </p>
        <ButtonLink link={site.startOffsetting} look="primary" />
        <p className="hero-caption">First step: estimate your footprint.</p>
        <p className="hero-more">
          Carbon neutrality starts with cutting your own emissions. Credits help to pay for projects elsewhere; on their
          own they do not make a company or a product carbon neutral.
        </p>
      </div>
      <FilmControls film={site.heroFilm} isSavingData={isSavingData} />
    </div>
  );
}
