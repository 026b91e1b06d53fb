import { describe, expect, it } from "vitest";
import { serviceWorker } from "../../packages/playground/offline.ts";

const scope = "https://host.example/play/";

/** The worker as a browser runs it, over a store in memory and a network that may be gone. */
function started(network: (url: string) => Promise<Response>) {
  const listeners = new Map<string, (event: object) => void>();
  const stored = new Map<string, Response>();
  const urlOf = (request: string | { readonly url: string }): string =>
    typeof request === "string" ? request : request.url;
  const store = {
    addAll: async (urls: readonly string[]) => {
      for (const url of urls) stored.set(url, await network(url));
    },
    match: (request: string | { readonly url: string }) => Promise.resolve(stored.get(urlOf(request))?.clone()),
    put: (request: string | { readonly url: string }, response: Response) =>
      Promise.resolve(void stored.set(urlOf(request), response)),
  };
  const names = ["addEventListener", "registration", "caches", "fetch", "skipWaiting", "clients"];
  const values = [
    (type: string, listener: (event: object) => void) => listeners.set(type, listener),
    { scope },
    { open: () => Promise.resolve(store), keys: () => Promise.resolve([]), delete: () => Promise.resolve(true) },
    (request: { readonly url: string }) => network(request.url),
    () => {},
    { claim: () => Promise.resolve() },
  ];
  new Function(...names, serviceWorker(["assets/a-1.js", "assets/big-1.wasm"], ["assets/a-1.js"]))(...values);
  return {
    stored,
    install: async () => {
      let work: Promise<void> | undefined;
      listeners.get("install")!({ waitUntil: (given: Promise<void>) => (work = given) });
      await work;
    },
    /** `undefined` where the worker leaves the request to the browser. */
    ask: (url: string, more: { method?: string; mode?: string } = {}): Promise<Response> | undefined => {
      let answer: Promise<Response> | undefined;
      const request = { url, method: "GET", mode: "cors", ...more };
      listeners.get("fetch")!({ request, respondWith: (given: Promise<Response>) => (answer = given) });
      return answer;
    },
  };
}

describe("the service worker of the page", () => {
  it("keeps the page and its files, the large ones once they were used", async () => {
    let isGone = false;
    const worker = started((url) => (isGone ? Promise.reject(new Error("gone")) : Promise.resolve(new Response(url))));
    await worker.install();
    expect([...worker.stored.keys()]).toEqual([scope, `${scope}assets/a-1.js`]);
    await worker.ask(`${scope}assets/big-1.wasm`);
    isGone = true;
    for (const path of ["assets/a-1.js", "assets/big-1.wasm"])
      expect(await (await worker.ask(`${scope}${path}`))!.text()).toBe(`${scope}${path}`);
    expect(await (await worker.ask(scope, { mode: "navigate" }))!.text()).toBe(scope);
  });

  it.each<[string, string, { method?: string; mode?: string }]>([
    ["what a tool reads beside the page", `${scope}demo/greeting.json`, {}],
    ["another origin", "https://edge.example/play/assets/a-1.js", {}],
    ["a file that another version has", `${scope}assets/a-2.js`, {}],
    ["a write", `${scope}assets/a-1.js`, { method: "POST" }],
    ["another page", `${scope}verify.html`, { mode: "navigate" }],
  ])("leaves %s to the browser", (_, url, more) => {
    expect(started(() => Promise.reject(new Error("gone"))).ask(url, more)).toBeUndefined();
  });

  it("does not keep a page that the network led elsewhere, or that is an error", async () => {
    const worker = started(() => Promise.resolve(new Response("a portal", { status: 503 })));
    await worker.ask(scope, { mode: "navigate" });
    expect(worker.stored.size).toBe(0);
  });
});
