import { type EdgeSettings, readAddress } from "@keyhole/worker-host/edge-protocol";
import { saved, type SavedKey } from "./saved.ts";

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
