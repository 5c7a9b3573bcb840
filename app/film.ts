// The home page's only script, inlined in the page. It starts the film after the page has loaded, pauses it on request
// and while the page is hidden, and does not fetch it for visitors who paused it on an earlier visit.

/** The browser keeps this while the film is paused. It never sends it. */
const PAUSED = "film-paused";

/** Whether the visitor paused the film on this device. Does nothing where the browser forbids storage. */
function rememberPause(isPaused: boolean): void {
  try {
    if (isPaused) localStorage.setItem(PAUSED, "");
    else localStorage.removeItem(PAUSED);
  } catch {}
}

function wasPaused(): boolean {
  try {
    return localStorage.getItem(PAUSED) !== null;
  } catch {
    return false;
  }
}

/** A browser may refuse to start the film, or have no decoder for it. `starting` lasts until the next state. */
type FilmState = "starting" | "playing" | "stopped" | "broken";

const video = document.querySelector<HTMLVideoElement>("#film");
const sources = document.querySelector<HTMLTemplateElement>("#film-sources");
const toggle = document.querySelector<HTMLButtonElement>("#film-toggle");
if (video && sources && toggle) control(video, sources, toggle);

function control(video: HTMLVideoElement, sources: HTMLTemplateElement, toggle: HTMLButtonElement) {
  const lessMotion = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const forcedColours = matchMedia("(forced-colors: active)");
  const saveData = "connection" in navigator && (navigator.connection as { saveData?: boolean }).saveData;
  let isWanted = !lessMotion && !saveData && !wasPaused();
  let state: FilmState = isWanted ? "starting" : "stopped";

  const become = (next: FilmState) => {
    state = next;
    const isOn = state === "starting" || state === "playing";
    toggle.dataset.film = isOn ? "on" : "off";
    toggle.title = isOn ? "Pause film" : "Play film";
    // While the film starts, the button does not change: it stays hidden on page load, and visible after a press.
    if (state !== "starting") toggle.hidden = state === "broken";
  };

  const apply = () => {
    if (state === "broken") return;
    // Forced colours hide the film.
    if (!isWanted || document.hidden || forcedColours.matches) {
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
    rememberPause(!isWanted);
    apply();
  });
  document.addEventListener("visibilitychange", apply);
  become(state);
  // A prerendered page counts as hidden, so its film waits for the visitor too.
  addEventListener("load", apply);
}
