import type { Hash } from "../hash/hash.ts";
import type { LoadedCapability, OwnNeed, Reading } from "./family.ts";

/**
 * The authority of one call: the tool's declaration and a stack of layers over it. The policy's
 * grants are the first layer, the caller's narrowing follows. A grant covers a need when the
 * declaration and every layer cover it. So a further layer can only narrow, and no code intersects
 * two patterns. The kernel reads a declaration generously: its `*` takes any host and its
 * missing `ports` any port. Layers give authority, so the kernel reads them strictly.
 */
export interface Grant {
  readonly declared: readonly LoadedCapability[];
  readonly layers: readonly (readonly LoadedCapability[])[];
  readonly hash: string;
  /** The kinds of which something is left, as declared. A kind that the declaration or some layer lacks is absent. */
  readonly kinds: readonly string[];
  /** The sources that its guest has by itself, without a request. */
  readonly sources: readonly string[];
}

/** @param by The algorithm of its digest. */
export function grantOf(declared: Grant["declared"], layers: Grant["layers"], by: Hash): Grant {
  const data = { declared: declared.map(dataOf), layers: layers.map((layer) => layer.map(dataOf)) };
  const kinds = kindsOf(declared, layers);
  const sources = kinds.filter((kind) => declared.some(({ family }) => family.isSource && family.kind === kind));
  return { declared, layers, hash: by.json(data), kinds, sources };
}

const dataOf = ({ json }: LoadedCapability): LoadedCapability["json"] => json;

/** Narrows a grant. The result never covers anything that the parent does not. */
export function attenuate(parent: Grant, capabilities: readonly LoadedCapability[], by: Hash): Grant {
  return grantOf(parent.declared, [...parent.layers, capabilities], by);
}

function kindsOf(declared: Grant["declared"], layers: Grant["layers"]): readonly string[] {
  const kinds = new Set(declared.map(({ kind }) => kind));
  const isIn = (kind: string) => (layer: readonly LoadedCapability[]) => layer.some((each) => each.kind === kind);
  return layers.length === 0 ? [] : [...kinds].filter((kind) => layers.every(isIn(kind)));
}

export function declares({ declared }: Pick<Grant, "declared">, need: OwnNeed): boolean {
  return declared.some((capability) => capability.covers(need, "wish"));
}

/** Whether a layer gives the authority for a need. */
export function gives(layer: readonly LoadedCapability[], need: OwnNeed): boolean {
  return layer.some((capability) => capability.covers(need, "authority"));
}

/** Layers first: a tool writes its own declaration, so most refused needs lack a grant. */
export function covers(grant: Grant, need: OwnNeed): boolean {
  return grant.layers.length > 0 && grant.layers.every((layer) => gives(layer, need)) && declares(grant, need);
}

/** How much one request may hold: bytes of its file or value, rows of its answer. `Infinity` where nothing says so. */
export function limitOf({ declared, layers }: Grant, need: OwnNeed): number {
  const most = (layer: readonly LoadedCapability[], reading: Reading): number => {
    const limits = layer.filter((each) => each.covers(need, reading, 0)).map(({ limit }) => limit);
    return limits.length > 0 ? Math.max(...limits) : Infinity;
  };
  return Math.min(most(declared, "wish"), ...layers.map((layer) => most(layer, "authority")));
}
