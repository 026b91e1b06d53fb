import type { EdgeSettings } from "@keyhole/worker-host/edge-protocol";
import { readKernelAddress } from "./edge-address.ts";
import { saved, type SavedKey } from "./saved.ts";

const key: SavedKey = { area: "session", key: "keyhole.edges", what: "addresses and tokens of the edges" };

/** An edge as a person calls it; an empty name is its host. */
export interface NamedEdge extends EdgeSettings {
  readonly name: string;
}

/** Of one tab. */
export const mostEdges = 20;
const mostOfName = 60;

/** The request of a link. No part of it holds before the person agrees. */
export type EdgeLink =
  /** `known`: the tab has an edge at this address, whose token the link would change. */
  | { readonly kind: "offer"; readonly settings: EdgeSettings; readonly known: boolean }
  | { readonly kind: "unusable"; readonly address: string };

/**
 * Takes `#edge=ADDRESS&token=TOKEN` out of the address bar, so that the token stays neither in the history nor in a copied link.
 *
 * @returns `undefined` where there is nothing to ask: no such link, or the edge of the settings already
 */
export function takeEdgeLink(): EdgeLink | undefined {
  const { hash, pathname, search } = location;
  const given = new URLSearchParams(hash.slice(1));
  if (!given.has("edge") && !given.has("token")) return undefined;
  history.replaceState(null, "", pathname + search);
  return readEdgeLink(given, loadEdges(), loadEdgeSettings()?.address);
}

/**
 * @param known the edges of this tab
 * @param current the address of the one that the page talks to
 */
export function readEdgeLink(
  given: URLSearchParams,
  known: readonly EdgeSettings[],
  current: string | undefined,
): EdgeLink | undefined {
  const named = given.get("edge");
  if (named === null) return undefined;
  const address = readKernelAddress(named);
  if (address === undefined) return { kind: "unusable", address: named.slice(0, 200) };
  const settings = { address, token: given.get("token") ?? "" };
  const own = known.find((each) => each.address === address);
  if (own?.token === settings.token && current === address) return undefined;
  return { kind: "offer", settings, known: own !== undefined };
}

/** The edge that the page talks to; `undefined` where none is set up. */
export function loadEdgeSettings(): NamedEdge | undefined {
  const { edges, current } = load();
  return edges.find(({ address }) => address === current);
}

/** Every edge of this tab, in the order in which they came. */
export function loadEdges(): readonly NamedEdge[] {
  return load().edges;
}

/** Adds the edge, or changes the one at this address, and turns to it. Beyond {@link mostEdges} the oldest goes. */
export function saveEdgeSettings({ address, token, name = "" }: EdgeSettings & { readonly name?: string }): void {
  const { edges } = load();
  const known = edges.find((each) => each.address === address);
  const edge = { address, token, name: (name === "" ? (known?.name ?? "") : name).slice(0, mostOfName) };
  const others = edges.filter((each) => each.address !== address).slice(1 - mostEdges);
  store({
    edges: known === undefined ? [...others, edge] : edges.map((each) => (each === known ? edge : each)),
    current: address,
  });
}

/** Turns to a saved edge. */
export function chooseEdge(address: string): void {
  store({ edges: load().edges, current: address });
}

/** Forgets an edge and its token. */
export function removeEdge(address: string): void {
  const { edges, current } = load();
  const left = edges.filter((each) => each.address !== address);
  store({ edges: left, current: current === address ? (left[0]?.address ?? "") : current });
}

interface SavedEdges {
  readonly edges: readonly NamedEdge[];
  /** Address of the one that the page talks to. */
  readonly current: string;
}

const nothing: SavedEdges = { edges: [], current: "" };

/** Reads stored settings, which another version or a person can have changed to anything. */
function load(): SavedEdges {
  try {
    const stored: unknown = JSON.parse(saved.read(key) ?? "null");
    if (typeof stored !== "object" || stored === null || !("edges" in stored) || !("current" in stored)) return nothing;
    const { edges, current } = stored;
    if (!Array.isArray(edges) || typeof current !== "string") return nothing;
    const read = edges.slice(0, mostEdges).flatMap((each: unknown) => readEdge(each) ?? []);
    return {
      edges: read.filter(({ address }, at) => read.findIndex((each) => each.address === address) === at),
      current,
    };
  } catch {
    return nothing;
  }
}

function readEdge(foreign: unknown): NamedEdge | undefined {
  if (typeof foreign !== "object" || foreign === null) return undefined;
  const { address, token, name }: Readonly<Record<string, unknown>> = { ...foreign };
  if (typeof address !== "string" || typeof token !== "string" || typeof name !== "string") return undefined;
  const origin = readKernelAddress(address);
  return origin === undefined ? undefined : { address: origin, token, name: name.slice(0, mostOfName) };
}

function store(edges: SavedEdges): void {
  saved.write(key, JSON.stringify(edges));
}
