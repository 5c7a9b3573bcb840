// The home page's only script, written into the page: starts the film late, stops it on request, rests when unseen.

const STORED_CHOICE = "film";
const video = document.querySelector<HTMLVideoElement>("#film");
const toggle = document.querySelector<HTMLButtonElement>("#film-toggle");
const label = toggle?.querySelector("span");
if (video && toggle && label) control(video, toggle, label);

function control(video: HTMLVideoElement, toggle: HTMLButtonElement, label: HTMLElement) {
  const lessMotion = matchMedia("(prefers-reduced-motion: reduce)");
  const saveData = "connection" in navigator && (navigator.connection as { saveData?: boolean }).saveData;
  const stored = recall();
  let isWanted = stored === null ? !lessMotion.matches && !saveData : stored === "on";

  const apply = () => {
    toggle.dataset.film = isWanted ? "on" : "off";
    label.textContent = isWanted ? "Pause film" : "Play film";
    if (!isWanted || document.hidden) return video.pause();
    for (const source of video.querySelectorAll<HTMLSourceElement>("source[data-src]")) {
      source.src = source.dataset.src ?? "";
      source.removeAttribute("data-src");
    }
    if (video.networkState === video.NETWORK_EMPTY || video.networkState === video.NETWORK_NO_SOURCE) video.load();
    // Browsers may refuse to start it (low power mode); the picture stays, and so does the button.
    video.play().catch(() => {});
  };

  video.addEventListener("playing", () => video.classList.add("is-playing"), { once: true });
  toggle.addEventListener("click", () => {
    isWanted = !isWanted;
    remember(isWanted ? "on" : "off");
    apply();
  });
  lessMotion.addEventListener("change", () => {
    isWanted = isWanted && !lessMotion.matches;
    apply();
  });
  document.addEventListener("visibilitychange", apply);
  toggle.hidden = false;
  toggle.dataset.film = isWanted ? "on" : "off";
  label.textContent = isWanted ? "Pause film" : "Play film";
  addEventListener("load", apply);
}

/** For the visit, where the browser lets a page remember anything. */
function remember(choice: "on" | "off"): void {
  try {
    sessionStorage.setItem(STORED_CHOICE, choice);
  } catch {}
}

function recall(): string | null {
  try {
    return sessionStorage.getItem(STORED_CHOICE);
  } catch {
    return null;
  }
}
