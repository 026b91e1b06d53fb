import { saved, type SavedKey } from "./saved.ts";

/**
 * Where `web_search` searches: the address of a search engine that speaks SearXNG's JSON. There is none that a page could come with, so without a setting the
 * page has no such tool.
 */
const key: SavedKey = { area: "local", key: "keyhole.search", what: "the address of the search" };

export function loadSearch(): string | undefined {
  return readSearch(saved.read(key) ?? "");
}

export function saveSearch(address: string | undefined): void {
  saved.write(key, address);
}

/** The person's text as an address; `undefined` where `webSearchAt` would refuse it. */
export function readSearch(typed: string): string | undefined {
  const text = typed.trim();
  if (!URL.canParse(text)) return undefined;
  const { protocol, username, password, search, hash, href } = new URL(text);
  const isPlain = username === "" && password === "" && search === "" && hash === "";
  return (protocol === "http:" || protocol === "https:") && isPlain ? href : undefined;
}

/** The first message of the page to its kernel's worker. A port comes with it, over which the page takes the records of calls. */
export interface PageSettings {
  readonly settings: { readonly search: string | undefined };
}

export function isPageSettings(data: unknown): data is PageSettings {
  return typeof data === "object" && data !== null && "settings" in data;
}
