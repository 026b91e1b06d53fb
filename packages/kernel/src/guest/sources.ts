import type { GuestCall } from "./call.ts";
import { type RandomSource, seededRandom } from "./random.ts";

/** The clock and randomness of one call. */
export interface CallSources {
  readonly now: () => number;
  readonly random: RandomSource;
}

// Taken before the realm is sealed: afterwards the globals of these names are logical, or gone.
const wallClock = Date.now;
const fill: ((words: Uint32Array<ArrayBuffer>) => unknown) | undefined =
  typeof crypto === "object" ? crypto.getRandomValues.bind(crypto) : undefined;

/** Logical time and chance from the call, or the real ones where they were granted. No method decides: the tool may have replaced it. */
export function callSources(call: Pick<GuestCall, "nowMs" | "seed" | "real">): CallSources {
  const { nowMs, seed, real } = call;
  return {
    now: real.clock ? wallClock : () => nowMs,
    random: real.random && fill !== undefined ? trueRandom(fill) : whenAsked(seed),
  };
}

/** Before the first call: module code and `setup` see the epoch and a fixed sequence. */
export const idleSources: CallSources = callSources({
  nowMs: 0,
  seed: "0".repeat(64),
  real: { clock: false, random: false },
});

/** Most calls never ask. */
function whenAsked(seed: string): RandomSource {
  let source: RandomSource | undefined;
  return () => (source ??= seededRandom(seed))();
}

function trueRandom(fill: (words: Uint32Array<ArrayBuffer>) => unknown): RandomSource {
  const words = new Uint32Array(2);
  return () => {
    fill(words);
    const [high = 0, low = 0] = words;
    return ((high >>> 5) * 2 ** 26 + (low >>> 6)) / 2 ** 53;
  };
}
