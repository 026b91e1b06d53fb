import { saved, type SavedKey } from "./saved.ts";

/** Where an edge is and how to be let in. */
export interface EdgeSettings {
  /** Origin, such as `http://127.0.0.1:8701`. */
  readonly address: string;
  readonly token: string;
}

const key: SavedKey = { area: "session", key: "keyhole.edge", what: "address and token of the edge" };

/**
 * Takes `#edge=ADDRESS&token=TOKEN` out of the address bar, so that the token stays neither in the history nor in a copied link. It is kept for
 * this tab only.
 */
export function takeEdgeSettings(): EdgeSettings | undefined {
  const given = new URLSearchParams(location.hash.slice(1));
  const address = readAddress(given.get("edge") ?? "");
  if (address !== undefined) {
    saveEdgeSettings({ address, token: given.get("token") ?? "" });
    history.replaceState(null, "", location.pathname + location.search);
  }
  return loadEdgeSettings();
}

export function loadEdgeSettings(): EdgeSettings | undefined {
  try {
    const stored: unknown = JSON.parse(saved.read(key) ?? "null");
    if (typeof stored !== "object" || stored === null || !("address" in stored) || !("token" in stored))
      return undefined;
    const { address, token } = stored;
    return typeof address === "string" && typeof token === "string" ? { address, token } : undefined;
  } catch {
    return undefined;
  }
}

export function saveEdgeSettings(settings: EdgeSettings): void {
  saved.write(key, JSON.stringify(settings));
}

/** The origin of what a person typed; `undefined` where it is no http address. */
export function readAddress(typed: string): string | undefined {
  const text = typed.trim();
  const url = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`;
  if (text === "" || !URL.canParse(url)) return undefined;
  const { protocol, origin } = new URL(url);
  return protocol === "http:" || protocol === "https:" ? origin : undefined;
}
