// The home page's only script, inlined in the page. It starts the film after the page has loaded, pauses it on request
// and while the page is hidden, and does not load it for visitors who chose no film.

/** How long the browser keeps the visitor's choices: for this visit or for later ones too. It never sends them. */
type Memory = "session" | "always";

/** Does nothing where the browser forbids storage. */
function remember(memory: Memory, name: string, value: string): void {
  try {
    storage(memory).setItem(name, value);
  } catch {}
}

function recall(memory: Memory, name: string): string | null {
  try {
    return storage(memory).getItem(name);
  } catch {
    return null;
  }
}

function storage(memory: Memory): Storage {
  return memory === "always" ? localStorage : sessionStorage;
}

/**
 * The film's actual state. A browser may refuse to start it (low power mode) or have no decoder for it. `starting`
 * lasts from a request to play until the next state.
 */
type FilmState = "absent" | "starting" | "playing" | "stopped" | "broken";

const video = document.querySelector<HTMLVideoElement>("#film");
const sources = document.querySelector<HTMLTemplateElement>("#film-sources");
const toggle = document.querySelector<HTMLButtonElement>("#film-toggle");
const noFilm = document.querySelector<HTMLButtonElement>("#no-film");
if (video && sources && toggle && noFilm) control(video, sources, toggle, noFilm);

function control(
  video: HTMLVideoElement,
  sources: HTMLTemplateElement,
  toggle: HTMLButtonElement,
  noFilm: HTMLButtonElement,
) {
  const lessMotion = matchMedia("(prefers-reduced-motion: reduce)");
  const forcedColours = matchMedia("(forced-colors: active)");
  const saveData = "connection" in navigator && (navigator.connection as { saveData?: boolean }).saveData;
  const figures = document.querySelectorAll<HTMLElement>("[data-with-film]");
  const stored = recall("session", "film");
  let isWanted = stored === null ? !lessMotion.matches && !saveData : stored === "on";
  let isWithoutFilm = recall("always", "no-film") === "on";
  let state: FilmState = "absent";

  const become = (next: FilmState) => {
    state = next;
    const isOn = state === "starting" || state === "playing";
    toggle.dataset.film = isOn ? "on" : "off";
    // While the film starts, the button does not change: it stays hidden on page load, and visible after a press.
    if (state !== "starting") toggle.hidden = state === "absent" || state === "broken";
    noFilm.ariaPressed = String(isWithoutFilm);
    const isFetched = isOn || state === "broken" || video.firstElementChild !== null;
    for (const figure of figures) {
      figure.textContent = (isFetched ? figure.dataset.withFilm : figure.dataset.withoutFilm) ?? "";
    }
  };

  const apply = () => {
    // Forced colours hide the film.
    if (isWithoutFilm || forcedColours.matches) return unload();
    if (state === "broken") return;
    if (!isWanted || document.hidden) {
      video.pause();
      return become("stopped");
    }
    if (!video.firstElementChild) video.append(sources.content.cloneNode(true));
    become("starting");
    video.play().catch(() => {
      if (state !== "starting" || !video.paused) return;
      // Otherwise the browser would start the film at any press, and a press on Play would stop it again.
      video.autoplay = false;
      become("stopped");
    });
  };

  /** Also stops a download that is in progress. */
  const unload = () => {
    video.classList.remove("is-playing");
    video.replaceChildren();
    if (video.currentSrc) video.load();
    become("absent");
  };

  video.addEventListener("playing", () => {
    video.classList.add("is-playing");
    become("playing");
  });
  video.addEventListener("pause", () => state === "playing" && become("stopped"));
  // If a source fails, only its element gets an error event. If the last source fails, no source can play.
  const fail = ({ target }: Event) => (target === video || target === video.lastElementChild) && become("broken");
  video.addEventListener("error", fail, true);
  toggle.addEventListener("click", () => {
    isWanted = state === "stopped";
    remember("session", "film", isWanted ? "on" : "off");
    apply();
  });
  noFilm.addEventListener("click", () => {
    isWithoutFilm = !isWithoutFilm;
    remember("always", "no-film", isWithoutFilm ? "on" : "off");
    apply();
  });
  lessMotion.addEventListener("change", () => {
    isWanted = isWanted && !lessMotion.matches;
    apply();
  });
  forcedColours.addEventListener("change", apply);
  document.addEventListener("visibilitychange", apply);
  noFilm.hidden = false;
  if (isWithoutFilm) become("absent");
  else become(isWanted ? "starting" : "stopped");
  // A prerendered page counts as hidden, so its film waits for the visitor too.
  addEventListener("load", apply);
}
