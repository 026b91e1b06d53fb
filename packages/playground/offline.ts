import { createHash } from "node:crypto";
import type { Plugin } from "vite";

/** The compiler of the Build screen is three times as large as everything else; it is kept once it was used. */
const mostBytes = 4_000_000;

/**
 * Writes the service worker with which the page works without a network after its first load. It answers for the page and its own files alone: nothing that a tool or
 * a person asks for passes through its store.
 */
export function offline(): Plugin {
  return {
    name: "playground:offline",
    apply: "build",
    enforce: "post",
    applyToEnvironment: ({ name }) => name === "client",
    generateBundle(_, bundle) {
      const files = Object.values(bundle).filter(({ fileName }) => /^assets\/.*\.(?:js|css|wasm)$/.test(fileName));
      const eager = files.filter((file) => file.type === "chunk" || file.source.length <= mostBytes);
      const source = serviceWorker(
        files.map(({ fileName }) => fileName),
        eager.map(({ fileName }) => fileName),
      );
      this.emitFile({ type: "asset", fileName: "service-worker.js", source });
    },
  };
}

/**
 * The names of files hold their digests, so that a stored file is never old. The page itself comes from the network where there is one.
 *
 * @param files all that it answers for
 * @param eager those that are fetched at once
 */
export function serviceWorker(files: readonly string[], eager: readonly string[]): string {
  const version = createHash("sha256").update(files.join("\n")).digest("hex").slice(0, 16);
  return `const prefix = "keyhole-playground-", store = prefix + ${JSON.stringify(version)};
const files = new Set(${JSON.stringify(files)}.map(placeOf)), eager = ${JSON.stringify(eager)};
function placeOf(path) { return new URL(path, registration.scope).href; }
async function keep() { await (await caches.open(store)).addAll(["./", ...eager].map(placeOf)); }
async function forget() {
  for (const name of await caches.keys()) if (name.startsWith(prefix) && name !== store) await caches.delete(name);
  await clients.claim();
}
async function page(request) {
  const kept = await caches.open(store);
  try {
    const answer = await fetch(request);
    if (answer.ok && !answer.redirected) await kept.put(registration.scope, answer.clone());
    return answer;
  } catch (error) {
    return (await kept.match(registration.scope)) ?? Promise.reject(error);
  }
}
async function file(request) {
  const kept = await caches.open(store), found = await kept.match(request);
  if (found) return found;
  const answer = await fetch(request);
  if (answer.ok) await kept.put(request, answer.clone());
  return answer;
}
addEventListener("install", (event) => { skipWaiting(); event.waitUntil(keep()); });
addEventListener("activate", (event) => event.waitUntil(forget()));
addEventListener("fetch", (event) => {
  const { request } = event, { origin, pathname } = new URL(request.url), place = origin + pathname;
  if (request.method !== "GET") return;
  if (request.mode === "navigate" && place === registration.scope) event.respondWith(page(request));
  else if (files.has(place)) event.respondWith(file(request));
});
`;
}
