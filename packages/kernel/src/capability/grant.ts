import type { JsonObject } from "../json/json.ts";
import type { Hash } from "../hash/hash.ts";
import { type Capability, type CapabilityKind, capabilityKinds, type Need } from "./capability.ts";
import { capabilityCovers, type Reading } from "./covers.ts";

/**
 * What one call may do: what the tool declares, and over it a stack of layers, the policy's grants first, then whatever the caller narrowed
 * to. A need is covered when the declaration and every layer cover it, so adding a layer can only narrow, and nothing has to intersect two
 * patterns. A declaration is a wish and is read generously: its `*` takes any host and its missing `ports` any port. Layers give authority and
 * are read strictly.
 */
export interface Grant {
  readonly declared: readonly Capability[];
  readonly layers: readonly (readonly Capability[])[];
  readonly hash: string;
  /** The kinds of which something is left. A kind that the declaration or some layer lacks is gone. */
  readonly kinds: readonly CapabilityKind[];
}

/** @param by The algorithm of its digest. */
export function grantOf(declared: Grant["declared"], layers: Grant["layers"], by: Hash): Grant {
  const hash = by.json({ declared, layers } as unknown as JsonObject);
  return { declared, layers, hash, kinds: kindsOf(declared, layers) };
}

/** Narrows a grant. The result never covers anything that the parent does not. */
export function attenuate(parent: Grant, capabilities: readonly Capability[], by: Hash): Grant {
  return grantOf(parent.declared, [...parent.layers, capabilities], by);
}

function kindsOf(declared: Grant["declared"], layers: Grant["layers"]): readonly CapabilityKind[] {
  const has = (layer: readonly Capability[], kind: CapabilityKind): boolean =>
    layer.some((capability) => capability.kind === kind);
  return capabilityKinds.filter(
    (kind) => has(declared, kind) && layers.length > 0 && layers.every((layer) => has(layer, kind)),
  );
}

export function declares({ declared }: Grant, need: Need): boolean {
  return declared.some((capability) => capabilityCovers(capability, need, "wish"));
}

export function covers(grant: Grant, need: Need): boolean {
  return (
    grant.layers.length > 0 &&
    declares(grant, need) &&
    grant.layers.every((layer) => layer.some((capability) => capabilityCovers(capability, need, "authority")))
  );
}

/** How much one request may hold: bytes of its file or value, rows of its answer. `Infinity` where nothing says so. */
export function limitOf({ declared, layers }: Grant, need: Need): number {
  const { bytes: _, ...plain } = { bytes: undefined, ...need };
  const most = (layer: readonly Capability[], reading: Reading): number => {
    const limits = layer.filter((each) => capabilityCovers(each, plain, reading)).map(limitIn);
    return limits.length > 0 ? Math.max(...limits) : Infinity;
  };
  return Math.min(most(declared, "wish"), ...layers.map((layer) => most(layer, "authority")));
}

function limitIn(capability: Capability): number {
  if ("fileBytes" in capability) return capability.fileBytes ?? Infinity;
  if ("valueBytes" in capability) return capability.valueBytes ?? Infinity;
  return ("rows" in capability ? capability.rows : undefined) ?? Infinity;
}
