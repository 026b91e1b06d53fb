import type { BoundName, Bounds, ErrorCode, JsonValue } from "@keyhole/kernel";

export type End = "ok" | ErrorCode;

/** One way to go wrong, and every end that it may come to. */
export interface Fault {
  /** Of the tool `subject`. */
  readonly deed: string;
  readonly value?: JsonValue;
  /** It never ends by itself: its deadline, at a random moment, is its end. */
  readonly endless?: true;
  /** It never yields, so that only a host which preempts can take it. */
  readonly spins?: true;
  /** What comes from outside: at a random moment of its run, or, in a session that has no isolate yet, at one of its way there. */
  readonly strike?: "cancel" | "kill" | "cancel on the way";
  /** Bounds that a host has to enforce by itself. */
  readonly bounds?: Partial<Bounds>;
  /** Each in a session of its own, which has no isolate yet. */
  readonly isNew?: true;
  /** So many of these calls at once. Default 1. */
  readonly times?: number;
  readonly ends: readonly End[];
}

/** What fills this much memory does it in less than a second. */
const memoryBytes = 8 << 20;
const fuel = 50_000_000;

const spin = { deed: "loop", spins: true } as const;
const spinInPromises = { deed: "loop in promises", spins: true } as const;

const faults: readonly Fault[] = [
  { deed: "echo", value: { a: [1, 2, 3] }, ends: ["ok"] },
  { deed: "echo", value: 1, times: 8, ends: ["ok", "RATE_LIMITED"] },
  { deed: "echo", value: 1, isNew: true, strike: "cancel on the way", ends: ["ok", "CANCELLED"] },
  { deed: "echo", value: 1, times: 4, isNew: true, ends: ["ok"] },

  { ...spin, endless: true, ends: ["TIMEOUT"] },
  { ...spin, strike: "kill", ends: ["ISOLATE_LOST"] },
  { ...spin, strike: "cancel", ends: ["CANCELLED"] },
  { ...spin, bounds: { fuel }, ends: ["OUT_OF_FUEL"] },
  { ...spinInPromises, endless: true, ends: ["TIMEOUT"] },
  { ...spinInPromises, strike: "kill", ends: ["ISOLATE_LOST"] },
  { deed: "hang", endless: true, ends: ["TIMEOUT"] },
  { deed: "hang", strike: "kill", ends: ["ISOLATE_LOST"] },
  { deed: "hang", strike: "cancel", ends: ["CANCELLED"] },
  { deed: "hang until told", strike: "cancel", ends: ["CANCELLED"] },

  { deed: "eat memory", spins: true, bounds: { memoryBytes }, ends: ["OUT_OF_MEMORY"] },
  { deed: "eat memory", spins: true, bounds: { memoryBytes }, strike: "kill", ends: ["ISOLATE_LOST", "OUT_OF_MEMORY"] },

  { deed: "throw", ends: ["TOOL_ERROR"] },
  { deed: "throw late", ends: ["TOOL_ERROR"] },
  { deed: "throw a proxy", ends: ["TOOL_ERROR"] },
  { deed: "cycle", ends: ["NOT_NORMALIZABLE"] },
  { deed: "just too large", value: 2_000, ends: ["BOUNDS_EXCEEDED"] },
  { deed: "spoil the prototypes", ends: ["ok"] },
  { deed: "speak after the end", ends: ["ok"] },

  { deed: "flood the log", ends: ["ok"] },
  { deed: "flood the progress", ends: ["ok"] },
  { deed: "flood the log", strike: "kill", ends: ["ok", "ISOLATE_LOST"] },
  { deed: "read a lot at once", value: 400, ends: ["ok"] },
  { deed: "read a lot at once", value: 400, strike: "kill", ends: ["ok", "ISOLATE_LOST"] },

  { deed: "read", value: "good", ends: ["ok"] },
  { deed: "read", value: "late", ends: ["ok"] },
  { deed: "read", value: "late", strike: "cancel", ends: ["ok", "CANCELLED"] },
  { deed: "read", value: "silent", endless: true, ends: ["TIMEOUT"] },
  { deed: "read", value: "silent", strike: "kill", ends: ["ISOLATE_LOST"] },
  { deed: "read", value: "silent", strike: "cancel", ends: ["CANCELLED"] },
  { deed: "read", value: "disk full", ends: ["TOOL_ERROR"] },
  { deed: "read", value: "unknown code", ends: ["TOOL_ERROR"] },
  { deed: "read", value: "rejects", ends: ["TOOL_ERROR"] },
  { deed: "read", value: "throws", ends: ["TOOL_ERROR"] },
  { deed: "read", value: "nothing", ends: ["TOOL_ERROR"] },
  { deed: "read", value: "huge", ends: ["BOUNDS_EXCEEDED"] },
];

/** Those that a host which enforces these bounds by itself, and preempts or does not, can take. */
export function faultsFor(enforces: readonly BoundName[], preempts: boolean): readonly Fault[] {
  return faults.filter(({ spins, bounds = {} }) => {
    const isBounded = (Object.keys(bounds) as BoundName[]).every((name) => enforces.includes(name));
    return isBounded && (preempts || spins === undefined || Object.keys(bounds).length > 0);
  });
}

/** Every card in a random order, then every card again: whatever the seed, none is left out. */
export function endlessDeck<Card>(cards: readonly Card[], draw: () => number): () => Card {
  let rest: Card[] = [];
  return () => {
    if (rest.length === 0) rest = [...cards];
    return rest.splice(Math.floor(draw() * rest.length), 1)[0]!;
  };
}
