/** The pause before the registration: the loads that a person waits for come first. */
const pauseMs = 10_000;

/** Has the browser keep the page's own files, so that it works without a network from then on. A browser that keeps nothing loads them again. */
export function keepForOffline(): void {
  const { serviceWorker } = navigator as { readonly serviceWorker?: ServiceWorkerContainer };
  if (serviceWorker === undefined || document.documentElement.hasAttribute("data-one-file")) return;
  setTimeout(() => {
    serviceWorker.register("./service-worker.js").catch(() => {});
  }, pauseMs);
}
