// The contact page's own script, inlined in its head. Until it has loaded the form's script, the page is plain HTML. It
// imports nothing, because in development it is served as a script, not as a module.

const ESTIMATE: `#${typeof import("./contact/estimate-part.tsx").FRAGMENT}` = "#footprint";
const formScript = document.currentScript?.dataset.form ?? "";

// Opens the estimate before the first paint. Browsers open it later, which would move everything below.
if (location.hash === ESTIMATE) {
  new MutationObserver((_, observer) => {
    const estimate = document.querySelector<HTMLDetailsElement>(".footprint");
    if (!estimate) return;
    estimate.open = true;
    observer.disconnect();
  }).observe(document, { childList: true, subtree: true });
}

// After the first paint, for which a prerendered page waits until it is visited.
addEventListener("load", () => {
  requestAnimationFrame(() => requestAnimationFrame(() => (self.requestIdleCallback || setTimeout)(load)));
});

/** Not by `import()`, because Firefox reports an error if the visitor leaves during one. */
function load(): void {
  const script = document.createElement("script");
  script.type = "module";
  script.src = formScript;
  document.head.append(script);
}
