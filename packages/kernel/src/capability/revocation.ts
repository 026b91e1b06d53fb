import { isJsonObject, type JsonValue, isJsonArray } from "../json/json.ts";
import type { StateChange } from "../state/change.ts";
import { StateTable } from "../state/table.ts";
import type { Mode } from "../tool/manifest.ts";

/** The grants to revoke: those that match every given field. Pass at least one of the first four. */
export interface RevocationMatch {
  readonly caller?: string;
  readonly sessionId?: string;
  /** A tool's name, in every version. */
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

/** The identity of a call. */
export interface Holder {
  readonly callId: string;
  readonly caller: string;
  readonly sessionId: string;
  readonly tool: string;
  /** The call that made this one, whose grants it holds narrowed. */
  readonly parentCallId?: string | undefined;
}

/** A call that runs, and the end that a revocation or a mode can put to it. */
export interface RunningCall {
  /** Why it is denied in a mode; `undefined` where it is not. */
  readonly denialIn: (mode: Mode) => string | undefined;
  /** Whether it holds grants that can be revoked. */
  readonly hasGrants: boolean;
  /** Kinds without which it does not go on: those of a tool whose acts pass no gate. */
  readonly needed: readonly string[];
  /** Called with the reason, as a sentence, once it may run no longer. */
  readonly stop: (why: string) => void;
}

/** A revocation before its announcement. */
export interface NewRevocation {
  /** Running calls that it reaches. */
  readonly calls: number;
  /** For its event. */
  readonly changes: readonly StateChange[];
  /** Takes the grants of running calls. In the same turn, but behind its event: a call that hears of it asks at once what stands. */
  readonly takeGrants: () => void;
}

/** Standing revocations. The kernel never drops one automatically, so it bounds their number. */
const maxStanding = 1_000;

/**
 * Grants as a tree: a call holds its own grants, and its nested calls hold parts of those. A
 * revocation takes effect immediately for every call that it matches and for all nested calls,
 * requests in progress included. Later calls are without the grant until it is restored.
 */
export class Revocations {
  readonly table: StateTable<Revocation> = new StateTable<Revocation>({
    name: "grants.revoked",
    version: 1,
    maxRows: maxStanding,
    whenFull: "refuse",
    codec: {
      encode: ({ revocationId, match, reason }) => ({ revocationId, match: { ...match }, reason }),
      decode: readRevocation,
    },
  });
  /** A list: a set that changes with every call leaves its old tables behind for the full collection. */
  readonly #held: HeldGrant[] = [];

  /** @throws RangeError when too many stand. */
  revoke(revocation: Revocation): NewRevocation {
    if (this.table.isFull) throw new RangeError(`${maxStanding} revocations stand: restore some first.`);
    // All that there are, before the first one ends and others with it.
    const grants = this.#held.filter((grant) => grant.loses(revocation));
    return {
      calls: grants.length,
      changes: this.table.put(revocation.revocationId, revocation),
      takeGrants: () => grants.forEach((grant) => grant.take(revocation)),
    };
  }

  /** For calls that begin later than its event. */
  restore(revocationId: string): readonly StateChange[] {
    return this.table.remove(revocationId);
  }

  /** Oldest first. */
  list(): readonly Revocation[] {
    return Array.from(this.table.entries(), ([, revocation]) => revocation);
  }

  /** Why a kind is revoked for a call that has not begun. */
  reasonFor(holder: Holder, kind: string): string | undefined {
    if (this.table.size === 0) return undefined;
    const parent = this.#parentOf(holder)?.refusal(kind);
    return parent ?? this.list().find(({ match }) => fits(match, holder) && concerns(match, kind))?.reason;
  }

  /** Kinds that are revoked for the same caller and session, for every tool: nested calls can be of any. */
  kindsWithin(holder: Holder, kinds: readonly string[]): readonly string[] {
    const reached = this.list().filter(({ match }) => fits({ ...match, tool: holder.tool }, holder));
    return kinds.filter((kind) => reached.some(({ match }) => concerns(match, kind)));
  }

  /** Applies a stricter mode to running calls: calls that it denies lose their grants for good, and end. */
  tighten(mode: Mode): void {
    const grants = [...this.#held];
    // The loop takes all before it announces one: a call asks at once what stands, for its parent as well.
    if (grants.filter((grant) => grant.isStoppedIn(mode)).length > 0) for (const grant of grants) grant.notify();
  }

  /** The grants of one run of a call. Its owner ends them. */
  track(holder: Holder, running?: RunningCall): HeldGrant {
    const grant: HeldGrant = new HeldGrant(holder, running, this.#parentOf(holder), () => {
      const at = this.#held.indexOf(grant);
      if (at >= 0) this.#held.splice(at, 1);
    });
    for (const [, revocation] of this.table.entries()) grant.take(revocation);
    this.#held.push(grant);
    return grant;
  }

  /** Grants of running calls. */
  get open(): number {
    return this.#held.length;
  }

  #parentOf({ parentCallId }: Holder): HeldGrant | undefined {
    return parentCallId === undefined ? undefined : this.#held.findLast(({ holder }) => holder.callId === parentCallId);
  }
}

export class HeldGrant {
  readonly holder: Holder;
  readonly #running: RunningCall | undefined;
  readonly #parent: HeldGrant | undefined;
  readonly #end: () => void;
  readonly #revoked: Revocation[] = [];
  #onRevoke: (() => void) | undefined;
  #denial: string | undefined;

  constructor(holder: Holder, running: RunningCall | undefined, parent: HeldGrant | undefined, end: () => void) {
    this.holder = holder;
    this.#running = running;
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
    if (!this.loses(revocation)) return false;
    this.#revoked.push(revocation);
    this.notify();
    return true;
  }

  notify(): void {
    this.#onRevoke?.();
    const { needed = [], stop } = this.#running ?? {};
    const gone = needed.find((kind) => this.refusal(kind) !== undefined);
    const why = this.#denial ?? (gone && `The grant for ${gone} was revoked: ${this.refusal(gone)}`);
    if (why !== undefined) stop?.(why);
  }

  /** Whether a mode denies its call. Then its grants are taken, and not yet announced. */
  isStoppedIn(mode: Mode): boolean {
    const reason = this.#running?.denialIn(mode);
    if (reason === undefined) return false;
    this.#denial ??= reason;
    const { callId } = this.holder;
    this.#revoked.push({ revocationId: `mode ${mode}`, match: { callId }, reason });
    return true;
  }

  loses(revocation: Revocation): boolean {
    return this.#running?.hasGrants !== false && this.isReached(revocation);
  }

  isReached(revocation: Revocation): boolean {
    return fits(revocation.match, this.holder) || this.#parent?.isReached(revocation) === true;
  }

  end(): void {
    this.#end();
  }
}

/** The kernel's revocations, and those that reached a call before it came here. */
export function withRevocations(
  kernel: Pick<Revocations, "track" | "reasonFor">,
  taken: readonly Revocation[],
): Pick<Revocations, "track" | "reasonFor"> {
  if (taken.length === 0) return kernel;
  return {
    reasonFor: (holder, kind) =>
      kernel.reasonFor(holder, kind) ?? taken.find(({ match }) => fits(match, holder) && concerns(match, kind))?.reason,
    track(holder, running) {
      const held = kernel.track(holder, running);
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

/** A row of a log. */
function readRevocation(value: JsonValue): Revocation | undefined {
  if (!isJsonObject(value)) return undefined;
  const { revocationId, reason, match } = value;
  if (typeof revocationId !== "string" || typeof reason !== "string") return undefined;
  const kinds = isJsonObject(match) && isJsonArray(match["kinds"]) ? match["kinds"] : [];
  try {
    // A kernel may lack the family of a kind that another one had.
    const known = kinds.filter((kind) => typeof kind === "string");
    return { revocationId, reason, match: readMatch(match as RevocationMatch, known) };
  } catch {
    return undefined;
  }
}

const texts = ["caller", "sessionId", "tool", "callId"] as const;

/** @throws TypeError for a match that is malformed or names no subject: it would revoke nothing, or everything. */
export function readMatch(given: RevocationMatch, knownKinds: readonly string[]): RevocationMatch {
  const { kinds } = given;
  const match: { -readonly [Name in keyof RevocationMatch]: RevocationMatch[Name] } = {};
  for (const name of texts) {
    const value: unknown = given[name];
    if (value === undefined) continue;
    if (typeof value !== "string" || !value.isWellFormed()) throw new TypeError(`\`${name}\` is a well-formed text.`);
    match[name] = value;
  }
  if (Object.keys(match).length === 0) throw new TypeError("The revocation names no caller, session, tool or call.");
  if (kinds === undefined) return match;
  const known = knownKinds.filter((kind) => kinds.includes(kind));
  if (known.length === 0 || !kinds.every((kind) => known.includes(kind)))
    throw new TypeError(`\`kinds\` are some of ${knownKinds.join(", ")}.`);
  return { ...match, kinds: known };
}
