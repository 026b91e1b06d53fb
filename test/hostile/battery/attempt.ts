/** The platforms that the battery runs on, in the order of the table's columns. */
export const platforms = ["chromium", "firefox", "webkit", "workerd", "node"] as const;
export type Platform = (typeof platforms)[number];

/**
 * Where an attempt's code runs:
 *
 * - `frame`: an expression in a worker that nobody hardened, inside a tool's frame. `at(name)` is an address of the canary, `page` the page's origin.
 * - `tool`: the body of an async function in a hardened isolate, with `context` and `at` at hand. What it returns is what it got.
 * - `output`: the body of a tool whose result, or exception, is the attack.
 * - `guest`: code that has taken the shell's place. `send(message, transfer)` speaks to the host, `callId` is the call's.
 * - `guest of a stream`: the same, in a call whose output is a stream, and that has a body.
 * - `pair`: two bodies, one after the other, in two isolates. The second one gets what the first one returned as `token`.
 * - `pair of frames`: the same, as expressions in two frames that nobody hardened.
 * - `spin`: a tool's body that never yields.
 */
export type Layer = "frame" | "tool" | "output" | "guest" | "guest of a stream" | "pair" | "pair of frames" | "spin";

export interface Attempt {
  /** Unique, stable: what a report names. */
  readonly id: string;
  readonly tries: string;
  readonly code: string;
  /** Of a pair: what the second isolate runs. */
  readonly second?: string;
  /** Of a guest: how the host notices. Default `lost`: the message itself ends the isolate. */
  readonly noticed?: "lost" | "flood" | "late";
  /** Of a guest: well-formed messages that it sends on the way. Default 0. */
  readonly heard?: number;
  /** Of a frame: its worker's thread stops until there is an answer, or starts a worker. Several at once can wait for each other for ever (Firefox), so that each has a frame of its own. */
  readonly isAlone?: true;
  /** Of a frame: an engine that now and then blocks the attempt's own worker over it, for good. What never comes back has got nothing; the canary is asked all the same. */
  readonly blocks?: Platform;
  /** Platforms where the attempt makes no sense or nothing is promised, each with the reason. */
  readonly except?: Partial<Record<Platform, string>>;
}

/** Attempts that share where they run and how their success would show. */
export interface AttemptGroup {
  readonly name: string;
  readonly layer: Layer;
  /** How an escape would be seen. */
  readonly seen: string;
  readonly on: readonly Platform[];
  readonly attempts: readonly Attempt[];
  /** Of tools: each has an isolate of its own, because its code cannot be loaded with that of others, or at all. Default: they may share one. */
  readonly isApart?: true;
  /** Where `npm test` tries one attempt of each class: their ids. `npm run hostile` tries all. Default: `npm test` tries all of them, too. */
  readonly quick?: Partial<Record<Platform, readonly string[]>>;
}

export const browsers: readonly Platform[] = ["chromium", "firefox", "webkit"];

/** Whether the battery runs an attempt there; a string says why not. */
export function applies({ on }: AttemptGroup, { except }: Attempt, platform: Platform): true | string {
  if (!on.includes(platform)) return "–";
  return except?.[platform] ?? true;
}

/** A table's rows: id, what it tries, code, and what else is to be said of it. */
export function rows(
  prefix: string,
  table: readonly (readonly [id: string, tries: string, code: string, more?: Partial<Attempt>])[],
): Attempt[] {
  return table.map(([id, tries, code, more]) => ({ id: `${prefix}.${id}`, tries, code, ...more }));
}
