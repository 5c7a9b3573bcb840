// The home page's only script, written into the page. It starts the film after the page has loaded, pauses it on request
// and while the page is hidden, and does not load it at all for visitors who chose low carbon.

/** Where the visitor's choices are kept: for this visit, or for later ones too. They are never sent anywhere. */
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

const video = document.querySelector<HTMLVideoElement>("#film");
const toggle = document.querySelector<HTMLButtonElement>("#film-toggle");
const lowCarbon = document.querySelector<HTMLButtonElement>("#low-carbon");
if (video && toggle && lowCarbon) control(video, toggle, lowCarbon);

function control(video: HTMLVideoElement, toggle: HTMLButtonElement, lowCarbon: HTMLButtonElement) {
  const lessMotion = matchMedia("(prefers-reduced-motion: reduce)");
  const saveData = "connection" in navigator && (navigator.connection as { saveData?: boolean }).saveData;
  const sources = video.querySelectorAll<HTMLSourceElement>("source");
  const label = toggle.querySelector("span");
  const grams = document.querySelector<HTMLElement>("#page-grams");
  const gramsWithFilm = grams?.textContent ?? "";
  const stored = recall("session", "film");
  let isWanted = stored === null ? !lessMotion.matches && !saveData : stored === "on";
  let isLowCarbon = recall("always", "low-carbon") === "on";

  /** What the buttons say; the film itself follows once the page has loaded. */
  const show = () => {
    toggle.hidden = isLowCarbon;
    toggle.dataset.film = isWanted ? "on" : "off";
    if (label) label.textContent = isWanted ? "Pause film" : "Play film";
    lowCarbon.ariaPressed = String(isLowCarbon);
    if (grams) grams.textContent = isLowCarbon ? (grams.dataset.withoutFilm ?? "") : gramsWithFilm;
  };

  const apply = () => {
    show();
    if (isLowCarbon) return unload();
    if (!isWanted || document.hidden) return video.pause();
    load();
    // Browsers may refuse to start it (low power mode); the picture stays, and so does the button.
    video.play().catch(() => {});
  };

  const load = () => {
    if (sources[0]?.src) return;
    for (const source of sources) source.src = source.dataset.src ?? "";
    video.load();
  };

  /** Also stops a download that is in progress. */
  const unload = () => {
    video.classList.remove("is-playing");
    for (const source of sources) source.removeAttribute("src");
    if (video.currentSrc) video.load();
  };

  video.addEventListener("playing", () => video.classList.add("is-playing"));
  toggle.addEventListener("click", () => {
    isWanted = !isWanted;
    remember("session", "film", isWanted ? "on" : "off");
    apply();
  });
  lowCarbon.addEventListener("click", () => {
    isLowCarbon = !isLowCarbon;
    remember("always", "low-carbon", isLowCarbon ? "on" : "off");
    apply();
  });
  lessMotion.addEventListener("change", () => {
    isWanted = isWanted && !lessMotion.matches;
    apply();
  });
  document.addEventListener("visibilitychange", apply);
  lowCarbon.hidden = false;
  show();
  // A prerendered page counts as hidden, so its film waits for the visitor too.
  addEventListener("load", apply);
}
