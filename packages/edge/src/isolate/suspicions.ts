import type { Place } from "./sandbox-place.ts";
import type { Kind } from "./sandbox-use.ts";

/** Kinds under suspicion; a program of a call is a kind too. */
const maxSuspected = 100;

interface Suspicion {
  /** Standstills at which it may have been the cause. */
  readonly strikes: number;
  readonly at: Place;
  readonly standstill: number;
  /** Whether it was the likeliest cause of one. */
  readonly isLikely: boolean;
  /** The sandbox that a call of it left while that stood still. */
  readonly left: Place | undefined;
}

/** Which kinds of one kernel may have held up a sandbox, and have not answered since. A guest that waits for its turn answers soon; a guest that computes without end never does. */
export class Suspicions {
  readonly #kinds = new Map<Kind, Suspicion>();

  strikes(kind: Kind): number {
    return this.#kinds.get(kind)?.strikes ?? 0;
  }

  /** Whether it was the likeliest cause of a standstill: not one that only happened to be there. */
  isLikely(kind: Kind): boolean {
    return this.#kinds.get(kind)?.isLikely ?? false;
  }

  left(kind: Kind): Place | undefined {
    return this.#kinds.get(kind)?.left;
  }

  /**
   * Counts one standstill of this sandbox once, however often it is seen.
   *
   * @param end `stays`: it is the likeliest cause. `left`: its call continues in another sandbox
   */
  suspect(kind: Kind, place: Place, end: "stays" | "left"): void {
    const before = this.#kinds.get(kind);
    const isSame = before?.at === place && before.standstill === place.standstills;
    this.#kinds.set(kind, {
      strikes: (before?.strikes ?? 0) + (isSame ? 0 : 1),
      at: place,
      standstill: place.standstills,
      isLikely: end === "stays" || before?.isLikely === true,
      left: end === "left" ? place : before?.left,
    });
    const [oldest] = this.#kinds.keys();
    if (this.#kinds.size > maxSuspected && oldest !== undefined) this.#kinds.delete(oldest);
  }

  clear(kind: Kind): void {
    this.#kinds.delete(kind);
  }
}
