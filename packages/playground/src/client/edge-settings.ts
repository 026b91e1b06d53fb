import { parseUrl } from "@keyhole/kernel";
import { saved, type SavedKey } from "./saved.ts";

/** Where an edge is and how to be let in. */
export interface EdgeSettings {
  /** Origin, such as `http://127.0.0.1:8701`. */
  readonly address: string;
  readonly token: string;
}

const key: SavedKey = { area: "session", key: "keyhole.edge", what: "address and token of the edge" };

/** What a link asks for. Nothing of it holds before the person agrees. */
export type EdgeLink =
  | { readonly kind: "offer"; readonly settings: EdgeSettings; readonly replaced: string | undefined }
  | { readonly kind: "unusable"; readonly address: string };

/**
 * Takes `#edge=ADDRESS&token=TOKEN` out of the address bar, so that the token stays neither in the history nor in a copied link.
 *
 * @returns `undefined` where there is nothing to ask: no such link, or the edge that is set up already
 */
export function takeEdgeLink(): EdgeLink | undefined {
  const { hash, pathname, search } = location;
  const given = new URLSearchParams(hash.slice(1));
  if (!given.has("edge") && !given.has("token")) return undefined;
  history.replaceState(null, "", pathname + search);
  return readEdgeLink(given, loadEdgeSettings());
}

export function readEdgeLink(given: URLSearchParams, current: EdgeSettings | undefined): EdgeLink | undefined {
  const named = given.get("edge");
  if (named === null) return undefined;
  const address = readAddress(named);
  if (address === undefined) return { kind: "unusable", address: named.slice(0, 200) };
  const settings = { address, token: given.get("token") ?? "" };
  const isSame = current?.address === address && current.token === settings.token;
  return isSame ? undefined : { kind: "offer", settings, replaced: current?.address };
}

export function loadEdgeSettings(): EdgeSettings | undefined {
  try {
    const stored: unknown = JSON.parse(saved.read(key) ?? "null");
    if (typeof stored !== "object" || stored === null || !("address" in stored) || !("token" in stored))
      return undefined;
    const { address, token } = stored;
    if (typeof address !== "string" || typeof token !== "string") return undefined;
    const origin = readAddress(address);
    return origin === undefined ? undefined : { address: origin, token };
  } catch {
    return undefined;
  }
}

export function saveEdgeSettings(settings: EdgeSettings): void {
  saved.write(key, JSON.stringify(settings));
}

/**
 * The origin of what a person typed. Plain http is for this machine alone: on the way to another one, anybody could read the token and
 * change the answers.
 */
export function readAddress(typed: string): string | undefined {
  const text = typed.trim();
  if (text === "") return undefined;
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return originOf(text);
  return originOf(`http://${text}`) ?? originOf(`https://${text}`);
}

function originOf(url: string): string | undefined {
  const parsed = parseUrl(url);
  if (parsed === undefined) return undefined;
  const { protocol, hostname, origin } = parsed;
  return protocol === "https:" || (protocol === "http:" && isLoopback(hostname)) ? origin : undefined;
}

/** A URL has only one spelling of an IP address. */
export function isLoopback(hostname: string): boolean {
  return /^(?:(?:[^.]+\.)*localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname);
}
