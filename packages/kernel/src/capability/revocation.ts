import { type Foreign, itemsOf, membersOf } from "../support/foreign.ts";

/** Whose grants are taken away: everything that is given has to fit. At least one of the first four is. */
export interface RevocationMatch {
  readonly caller?: string;
  readonly sessionId?: string;
  /** A tool's name, whatever its version. */
  readonly tool?: string;
  /** One call, and the calls that it makes. */
  readonly callId?: string;
  /** Default: every kind. */
  readonly kinds?: readonly string[];
}

export interface Revocation {
  readonly revocationId: string;
  readonly match: RevocationMatch;
  readonly reason: string;
}

/** What tells calls apart. */
export interface Holder {
  readonly callId: string;
  readonly caller: string;
  readonly sessionId: string;
  readonly tool: string;
  /** The call that made this one, whose grants it holds narrowed. */
  readonly parentCallId?: string | undefined;
}

/** Revocations that stand. Nobody looks through more, and none is ever forgotten by itself. */
const maxStanding = 1_000;

/**
 * Grants as a tree: a call holds its own, and the calls that it makes hold parts of those. What is revoked is gone at once for every call that it
 * fits and for all below, requests in flight included, and for calls that begin later until it is restored.
 */
export class Revocations {
  readonly #standing = new Map<string, Revocation>();
  readonly #held = new Map<string, Set<HeldGrant>>();

  /** How many running calls it reaches. @throws RangeError when too many stand. */
  revoke(revocation: Revocation): number {
    if (this.#standing.size >= maxStanding)
      throw new RangeError(`${maxStanding} revocations stand: restore some first.`);
    this.#standing.set(revocation.revocationId, revocation);
    // All that there are, before the first one ends and others with it.
    const grants = [...this.#held.values()].flatMap((each) => [...each]);
    return grants.filter((grant) => grant.take(revocation)).length;
  }

  /** For calls that begin later. */
  restore(revocationId: string): boolean {
    return this.#standing.delete(revocationId);
  }

  /** Oldest first. */
  list(): readonly Revocation[] {
    return [...this.#standing.values()];
  }

  /** Why a kind is revoked for a call that has not begun. */
  standing(holder: Holder, kind: string): string | undefined {
    if (this.#standing.size === 0) return undefined;
    const parent = this.#parentOf(holder)?.refusal(kind);
    return parent ?? this.list().find(({ match }) => fits(match, holder) && concerns(match, kind))?.reason;
  }

  /** What one run of a call holds. Whoever has it ends it. */
  hold(holder: Holder): HeldGrant {
    const grant: HeldGrant = new HeldGrant(holder, this.#parentOf(holder), () => {
      const held = this.#held.get(holder.callId);
      held?.delete(grant);
      if (held?.size === 0) this.#held.delete(holder.callId);
    });
    for (const revocation of this.#standing.values()) grant.take(revocation);
    const held = this.#held.get(holder.callId) ?? new Set();
    held.add(grant);
    this.#held.set(holder.callId, held);
    return grant;
  }

  /** Grants that are held. */
  get open(): number {
    return this.#held.size;
  }

  #parentOf({ parentCallId }: Holder): HeldGrant | undefined {
    return parentCallId === undefined ? undefined : [...(this.#held.get(parentCallId) ?? [])].at(-1);
  }
}

export class HeldGrant {
  readonly #holder: Holder;
  readonly #parent: HeldGrant | undefined;
  readonly #end: () => void;
  readonly #revoked: Revocation[] = [];
  #onRevoke: (() => void) | undefined;

  constructor(holder: Holder, parent: HeldGrant | undefined, end: () => void) {
    this.#holder = holder;
    this.#parent = parent;
    this.#end = end;
  }

  /** Called whenever something more is revoked. */
  watch(listener: () => void): void {
    this.#onRevoke = listener;
  }

  get revocations(): readonly Revocation[] {
    return this.#revoked;
  }

  /** Why a kind is gone, for this call or for one that it comes from. */
  refusal(kind: string): string | undefined {
    return this.#revoked.find(({ match }) => concerns(match, kind))?.reason ?? this.#parent?.refusal(kind);
  }

  /** Whether a revocation reaches it. */
  take(revocation: Revocation): boolean {
    if (!this.#isReached(revocation.match)) return false;
    this.#revoked.push(revocation);
    this.#onRevoke?.();
    return true;
  }

  end(): void {
    this.#end();
  }

  #isReached(match: RevocationMatch): boolean {
    return fits(match, this.#holder) || (this.#parent !== undefined && this.#parent.#isReached(match));
  }
}

/** The kernel's revocations, and those that reached a call before it came here. */
export function withRevocations(
  kernel: Pick<Revocations, "hold" | "standing">,
  taken: readonly Revocation[],
): Pick<Revocations, "hold" | "standing"> {
  if (taken.length === 0) return kernel;
  return {
    standing: (holder, kind) =>
      kernel.standing(holder, kind) ?? taken.find(({ match }) => fits(match, holder) && concerns(match, kind))?.reason,
    hold(holder) {
      const held = kernel.hold(holder);
      for (const revocation of taken) held.take(revocation);
      return held;
    },
  };
}

function fits({ caller, sessionId, tool, callId }: RevocationMatch, holder: Holder): boolean {
  return (
    (caller === undefined || caller === holder.caller) &&
    (sessionId === undefined || sessionId === holder.sessionId) &&
    (tool === undefined || tool === holder.tool) &&
    (callId === undefined || callId === holder.callId)
  );
}

function concerns({ kinds }: RevocationMatch, kind: string): boolean {
  return kinds === undefined || kinds.includes(kind);
}

const texts = ["caller", "sessionId", "tool", "callId"] as const;

/** @throws TypeError for what names nobody, or what is no match: it would take from nobody, or from everybody. */
export function readMatch(foreign: Foreign<RevocationMatch>, knownKinds: readonly string[]): RevocationMatch {
  const { kinds, ...named } = membersOf(foreign, ...texts, "kinds");
  const match: { -readonly [Name in keyof RevocationMatch]: RevocationMatch[Name] } = {};
  for (const name of texts) {
    const value = named[name];
    if (value === undefined) continue;
    if (typeof value !== "string" || !value.isWellFormed()) throw new TypeError(`\`${name}\` is a well-formed text.`);
    match[name] = value;
  }
  if (Object.keys(match).length === 0) throw new TypeError("The revocation names no caller, session, tool or call.");
  if (kinds === undefined) return match;
  const given = itemsOf(kinds, maxStanding) ?? [];
  const known = knownKinds.filter((kind) => given.includes(kind));
  if (known.length === 0 || !given.every((kind) => known.some((each) => each === kind)))
    throw new TypeError(`\`kinds\` are some of ${knownKinds.join(", ")}.`);
  return { ...match, kinds: known };
}
