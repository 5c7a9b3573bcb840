import type { ReactNode } from "react";
import filmAv1 from "../media/first-light.av1.mp4?url";
import filmH264 from "../media/first-light.h264.mp4?url";
import phoneAv1 from "../media/first-light.phone.av1.mp4?url";
import phoneH264 from "../media/first-light.phone.h264.mp4?url";
import posterAvif from "../media/poster.avif?url";
import posterJpeg from "../media/poster.jpg?url";
import phonePoster from "../media/poster.phone.avif?url";
import posterWebp from "../media/poster.webp?url";
import { type PageFetch, VIEW_MEDIA, type View } from "../screen.ts";
import type { FilmSource, SiteSettings } from "../site-schema.ts";

/** In the order of `VIEW_MEDIA`. */
const OWN_FILM: readonly { view: View; poster: string; av1: string; codec: string; h264: string }[] = [
  { view: "phone", poster: phonePoster, av1: phoneAv1, codec: "av01.0.04M.08", h264: phoneH264 },
  { view: "other", poster: posterAvif, av1: filmAv1, codec: "av01.0.05M.08", h264: filmH264 },
];

/** The same conditions that the film's script checks. */
const NOSCRIPT_MEDIA = "(prefers-reduced-motion: no-preference) and (forced-colors: none)";

interface HeroFilmProps {
  film: SiteSettings["heroFilm"];
  isSavingData: boolean;
}

/**
 * The still picture paints first. The film's script adds the sources once the page has loaded, unless the visitor
 * chose less motion, less data or no film. Until then the sources are in a template, because Firefox warns about
 * sources without `src`. Without script the browser plays the film itself, except with `Save-Data`.
 */
export function HeroFilm({ film, isSavingData }: HeroFilmProps) {
  const sources = sourcesOf(film);
  return (
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
          {!isSavingData && (
            <noscript>
              <video muted loop autoPlay playsInline tabIndex={-1} aria-hidden="true">
                {sources.map(({ url, type, media }) => (
                  <source key={url} src={url} type={type} media={withoutScript(media)} />
                ))}
              </video>
            </noscript>
          )}
        </>
      )}
    </div>
  );
}

/** Two buttons, or without script a checkbox that hides the film. They precede the hero's text, as on a phone's screen. */
export function FilmControls({ film, isSavingData }: HeroFilmProps) {
  if (film === "off") return null;
  return (
    <div className="film-controls">
      {!isSavingData && (
        <noscript>
          <label className="film-toggle">
            <input type="checkbox" id="film-hidden" />
            <span>Hide film</span>
          </label>
        </noscript>
      )}
      <button type="button" id="film-toggle" className="film-toggle" hidden>
        <Icon>
          <path className="film-toggle-pause" d="M8 5v14M16 5v14" />
          <path className="film-toggle-play" d="M8 5l11 7-11 7Z" />
        </Icon>
        <span className="film-toggle-pause">Pause film</span> <span className="film-toggle-play">Play film</span>
      </button>
      <button type="button" id="no-film" className="film-toggle" aria-pressed="false" hidden>
        <Icon>
          <path d="M8 6h10a2 2 0 0 1 2 2v8M16 18H6a2 2 0 0 1-2-2V8M4 4l16 16" />
        </Icon>
        <span>No film</span>
      </button>
    </div>
  );
}

/** What a browser fetches to show the film and the still picture before it. */
export function heroFilmFetches(film: SiteSettings["heroFilm"]): PageFetch[] {
  const posters = OWN_FILM.map(({ view, poster }): PageFetch => {
    return { kind: "picture", view, urls: [poster, posterWebp, posterJpeg] };
  });
  if (film === "off") return posters;
  if (film !== "own") return [...posters, { kind: "film", urls: film.map(({ url }) => url) }];
  return [...posters, ...OWN_FILM.map(({ view, av1, h264 }): PageFetch => ({ kind: "film", view, urls: [av1, h264] }))];
}

function sourcesOf(film: SiteSettings["heroFilm"]): readonly FilmSource[] | null {
  if (film === "off") return null;
  if (film !== "own") return film;
  return OWN_FILM.flatMap(({ view, av1, codec, h264 }) => {
    const media = VIEW_MEDIA[view] && { media: VIEW_MEDIA[view] };
    return [
      { url: av1, type: `video/mp4; codecs="${codec}"`, ...media },
      { url: h264, type: "video/mp4", ...media },
    ];
  });
}

function withoutScript(media?: string): string {
  const queries = media?.split(", ").map((query) => `${query} and ${NOSCRIPT_MEDIA}`);
  return queries?.join(", ") ?? NOSCRIPT_MEDIA;
}

function Icon({ children }: { children: ReactNode }) {
  return (
    <svg viewBox="0 0 24 24" width="20" height="20" aria-hidden="true">
      {children}
    </svg>
  );
}
