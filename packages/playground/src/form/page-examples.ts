import type { JsonObject, ToolSummary } from "@keyhole/kernel";

/** Files beside the page: the page's own server needs no leave of another site, so that a first request can succeed. */
const demos: ReadonlyMap<string, string> = new Map([
  ["http_fetch", "demo/greeting.json"],
  ["fetch_url", "demo/page.html"],
]);

/**
 * Examples that only this page can give. A page from a disk has no server.
 *
 * @param place address of the page without its fragment
 */
export function pageExamplesOf({ manifest }: ToolSummary, place: string): readonly JsonObject[] {
  const path = demos.get(manifest.name);
  if (path === undefined || !/^https?:/.test(place)) return [];
  return [{ url: `${place.slice(0, place.lastIndexOf("/") + 1)}${path}` }];
}
