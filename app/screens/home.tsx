import { site } from "virtual:site";
import { ButtonLink } from "../components/links.tsx";
import filmAv1 from "../media/first-light.av1.mp4?url";
import filmH264 from "../media/first-light.h264.mp4?url";
import phoneAv1 from "../media/first-light.phone.av1.mp4?url";
import phoneH264 from "../media/first-light.phone.h264.mp4?url";
import posterAvif from "../media/poster.avif?url";
import posterJpeg from "../media/poster.jpg?url";
import phonePoster from "../media/poster.phone.avif?url";
import posterWebp from "../media/poster.webp?url";
import { type PageFetch, type Screen, VIEW_MEDIA, type View } from "../screen.ts";
import type { SiteSettings } from "../site-schema.ts";
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
        <p className="hero-line">{site.hero.line}</p>
        <ButtonLink link={site.startOffsetting} look="primary" />
        <p className="hero-more">{site.hero.more}</p>
      </div>
    </div>
  );
}

/** In the order of `VIEW_MEDIA`. */
const OWN_FILM: readonly { view: View; poster: string; av1: string; codec: string; h264: string }[] = [
  { view: "phone", poster: phonePoster, av1: phoneAv1, codec: "av01.0.04M.08", h264: phoneH264 },
  { view: "other", poster: posterAvif, av1: filmAv1, codec: "av01.0.05M.08", h264: filmH264 },
];

/**
 * The still picture paints first. The film's script adds the sources once the page has loaded, unless the visitor
 * chose less motion or less data, or paused the film. Until then the sources are in a template, because Firefox warns
 * about sources without `src`. Without script the picture stays.
 */
function HeroFilm({ film }: { film: SiteSettings["heroFilm"] }) {
  const sources = sourcesOf(film);
  return (
    <>
      <div className="film">
        <picture>
          {OWN_FILM.map(({ view, poster }) => (
            <source key={view} type="image/avif" srcSet={poster} media={VIEW_MEDIA[view]} />
          ))}
          <source type="image/webp" srcSet={posterWebp} />
          <img src={posterJpeg} alt="" width="1280" height="720" fetchPriority="high" />
        </picture>
        {sources && (
          <>
            <video id="film" muted loop autoPlay playsInline tabIndex={-1} aria-hidden="true" />
            <template id="film-sources">
              {sources.map(({ url, type, media }) => (
                <source key={url} src={url} type={type} media={media} />
              ))}
            </template>
          </>
        )}
      </div>
      {sources && (
        // Its title is its name, also for screen readers; the film's script sets it.
        <button type="button" id="film-toggle" className="film-toggle" title="Pause film" hidden>
          <svg className="icon" viewBox="0 0 24 24" width="24" height="24" aria-hidden="true">
            <path className="film-toggle-pause" d="M9 6v12M15 6v12" />
            <path className="film-toggle-play" d="M9 6l9 6-9 6Z" />
          </svg>
        </button>
      )}
    </>
  );
}

/** What a browser fetches to show the film and the still picture before it. */
function heroFilmFetches(film: SiteSettings["heroFilm"]): PageFetch[] {
  const posters = OWN_FILM.map(({ view, poster }): PageFetch => {
    return { kind: "picture", view, urls: [poster, posterWebp, posterJpeg] };
  });
  if (film === "off") return posters;
  if (film !== "own") return [...posters, { kind: "film", urls: [film] }];
  return [...posters, ...OWN_FILM.map(({ view, av1, h264 }): PageFetch => ({ kind: "film", view, urls: [av1, h264] }))];
}

function sourcesOf(film: SiteSettings["heroFilm"]): readonly { url: string; type?: string; media?: string }[] | null {
  if (film === "off") return null;
  if (film !== "own") return [{ url: film }];
  return OWN_FILM.flatMap(({ view, av1, codec, h264 }) => {
    const media = VIEW_MEDIA[view] && { media: VIEW_MEDIA[view] };
    return [
      { url: av1, type: `video/mp4; codecs="${codec}"`, ...media },
      { url: h264, type: "video/mp4", ...media },
    ];
  });
}
