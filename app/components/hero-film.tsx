import type { ReactNode } from "react";
import filmAv1 from "../media/first-light.av1.mp4?url";
import filmH264 from "../media/first-light.h264.mp4?url";
import posterAvif from "../media/poster.avif?url";
import posterJpeg from "../media/poster.jpg?url";
import posterWebp from "../media/poster.webp?url";
import type { PageFetch } from "../screen.ts";
import type { FilmSource, SiteSettings } from "../site.ts";

const OWN_FILM: readonly FilmSource[] = [
  { url: filmAv1, type: 'video/mp4; codecs="av01.0.05M.08"' },
  { url: filmH264, type: "video/mp4" },
];

/** The same conditions that the film's script checks. */
const NOSCRIPT_MEDIA = "(prefers-reduced-motion: no-preference) and (forced-colors: none)";

interface HeroFilmProps {
  film: SiteSettings["heroFilm"];
  isSavingData: boolean;
}

/**
 * The still picture paints first. The film's script adds the sources once the page has loaded, unless the visitor
 * chose less motion, less data or no film. Until then they are in a template: Firefox warns of sources without
 * `src`. Without script the browser plays the film itself, and a checkbox hides it; with `Save-Data` there is neither.
 */
export function HeroFilm({ film, isSavingData }: HeroFilmProps) {
  const sources = sourcesOf(film);
  return (
    <div className="film">
      <picture>
        <source type="image/avif" srcSet={posterAvif} />
        <source type="image/webp" srcSet={posterWebp} />
        <img src={posterJpeg} alt="" width="1280" height="720" fetchPriority="high" />
      </picture>
      {sources && (
        <>
          <video id="film" muted loop autoPlay playsInline tabIndex={-1} aria-hidden="true" />
          <template id="film-sources">
            {sources.map(({ url, type }) => (
              <source key={url} src={url} type={type} />
            ))}
          </template>
          {!isSavingData && (
            <noscript>
              <video muted loop autoPlay playsInline tabIndex={-1} aria-hidden="true">
                {sources.map(({ url, type }) => (
                  <source key={url} src={url} type={type} media={NOSCRIPT_MEDIA} />
                ))}
              </video>
              <label className="film-controls film-toggle">
                <input type="checkbox" id="film-hidden" />
                <span>Hide film</span>
              </label>
            </noscript>
          )}
          <div className="film-controls">
            <button type="button" id="film-toggle" className="film-toggle" hidden>
              <Icon>
                <path className="film-toggle-pause" d="M8 5v14M16 5v14" />
                <path className="film-toggle-play" d="M8 5l11 7-11 7Z" />
              </Icon>
              <span>Pause film</span>
            </button>
            <button type="button" id="no-film" className="film-toggle" aria-pressed="false" hidden>
              <Icon>
                <path d="M8 6h10a2 2 0 0 1 2 2v8M16 18H6a2 2 0 0 1-2-2V8M4 4l16 16" />
              </Icon>
              <span>
                No film
                <span className="film-grams" />
              </span>
            </button>
          </div>
        </>
      )}
    </div>
  );
}

/** What a browser fetches to show the film and the still picture before it. */
export function heroFilmFetches(film: SiteSettings["heroFilm"]): PageFetch[] {
  const poster: PageFetch = { kind: "picture", urls: [posterAvif, posterWebp, posterJpeg] };
  const sources = sourcesOf(film);
  return sources ? [poster, { kind: "film", urls: sources.map(({ url }) => url) }] : [poster];
}

function sourcesOf(film: SiteSettings["heroFilm"]): readonly FilmSource[] | null {
  if (film === "off") return null;
  return film === "own" ? OWN_FILM : film;
}

function Icon({ children }: { children: ReactNode }) {
  return (
    <svg viewBox="0 0 24 24" width="20" height="20" aria-hidden="true" focusable="false">
      {children}
    </svg>
  );
}
