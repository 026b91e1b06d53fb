import type { Usage } from "../broker.ts";
import type { BrokerError } from "../request.ts";
import type { LoadedCapability, OwnNeed, Reading } from "../family.ts";
import type { Grant } from "../grant.ts";
import { bounds } from "./refusals.ts";

/** The used part of a capability's `requests`, and of its `bytes` or `totalBytes`. */
export interface Taken {
  readonly requests: number;
  readonly bytes: number;
}

/** A capability with a budget. Its key is what it says: so it is the same one in another run, and after a suspension. */
interface Account extends Taken {
  readonly key: string;
  readonly covers: (need: OwnNeed, size: number) => boolean;
  readonly kind: string;
}

interface Charge extends Taken {
  readonly keys: ReadonlySet<string>;
}

const nothing: Charge = { requests: 0, bytes: 0, keys: new Set() };

/**
 * The budgets of one call. A budget belongs to the capability that carries it: in every layer each request is charged, whole, to one capability that covers
 * it and has enough left. Where several do, the one with most bytes left takes it, of equals the one with most requests left, of equals the first. A
 * request that grows out of its capability moves, whole, to another that can take it.
 */
export class Ledger {
  readonly #layers: readonly (readonly Account[])[];
  readonly #taken: Map<string, Taken>;
  readonly #charges = new WeakMap<OwnNeed, Charge>();

  constructor({ declared, layers }: Grant, taken: Readonly<Record<string, Taken>>) {
    this.#layers = [accountsOf(declared, "wish"), ...layers.map((layer) => accountsOf(layer, "authority"))];
    this.#taken = new Map(Object.entries(taken));
  }

  get taken(): Readonly<Record<string, Taken>> {
    return Object.fromEntries(this.#taken);
  }

  /** Charges all layers, or none where a budget does not hold or `around` has something against it. */
  charge(
    need: OwnNeed,
    { networkRequests = 0, networkBytes = 0, requests: others = 0, bytes: moved = 0 }: Usage,
    around: () => BrokerError | undefined,
  ): BrokerError | undefined {
    const before = this.#charges.get(need) ?? nothing;
    const requests = before.requests + networkRequests + others;
    const bytes = before.bytes + networkBytes + moved;
    this.#add(before, -1);
    const chosen = this.#choose(need, requests, bytes);
    const refusal = typeof chosen === "number" ? usedUp(need, chosen) : around();
    const after = typeof chosen === "number" || refusal ? before : { requests, bytes, keys: chosen };
    this.#add(after, 1);
    this.#charges.set(need, after);
    return refusal;
  }

  #add({ keys, requests, bytes }: Charge, sign: 1 | -1): void {
    for (const key of keys) {
      const taken = this.#taken.get(key) ?? nothing;
      this.#taken.set(key, { requests: taken.requests + sign * requests, bytes: taken.bytes + sign * bytes });
    }
  }

  /** Or the first layer in which nothing is left. */
  #choose(need: OwnNeed, requests: number, bytes: number): ReadonlySet<string> | number {
    // Of a body that counts the size is known by now, and a capability for smaller ones does not cover it.
    const size = need.family.body ? bytes : need.size;
    const keys = new Set<string>();
    for (const [place, layer] of this.#layers.entries()) {
      const ofKind = layer.filter(({ kind }) => kind === need.kind);
      if (ofKind.length === 0) continue;
      const covering = ofKind.filter(({ covers }) => covers(need, size));
      // The access of a called tool counts too, beyond that of this tool.
      const [most] = (covering.length > 0 ? covering : ofKind)
        .map((account) => {
          const taken = this.#taken.get(account.key) ?? nothing;
          return { key: account.key, requests: account.requests - taken.requests, bytes: account.bytes - taken.bytes };
        })
        .filter((left) => left.requests >= requests && left.bytes >= bytes)
        // Two without a bound differ by no number: the order stands.
        .toSorted((a, b) => b.bytes - a.bytes || b.requests - a.requests);
      if (!most) return place;
      if (Math.min(most.requests, most.bytes) < Infinity) keys.add(most.key);
    }
    return keys;
  }
}

/** The manifest's capabilities are the first layer, the policy's grants the second. */
function usedUp(need: OwnNeed, layer: number): BrokerError {
  const places = ["the capability in the tool's manifest", "the grant in the policy"];
  const place = places[layer] ?? "the capability in the call's own `grants`";
  const message = `The call has used up its grants for ${need.kind} of ${need.target}.`;
  return bounds(message, `Raise \`requests\`, \`bytes\` or \`totalBytes\` of ${place}.`);
}

function accountsOf(layer: readonly LoadedCapability[], reading: Reading): readonly Account[] {
  return layer.map((capability, index) => ({
    key: index + JSON.stringify(capability.json),
    kind: capability.kind,
    ...capability.budget,
    covers: (need, size) => capability.covers(need, reading, size),
  }));
}
