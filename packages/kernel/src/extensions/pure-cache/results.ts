import type { Ending } from "../../call/ending/ending.ts";
import type { CallIdentity } from "../../call/arrival/entry.ts";
import type { Allowed } from "../../call/steps/authorize.ts";
import * as limits from "../../limits.ts";
import { Shares } from "../../support/shares.ts";

interface Kept {
  readonly caller: string;
  readonly ending: Ending;
}

/**
 * Results of pure tools, by tool hash and input hash. A tool may falsely claim to be pure, and its
 * memory of one session must not reach another. So a result serves other sessions only when its
 * isolate had no earlier call, which holds for calls without a session of their own. Any other
 * result serves its own session. Entries and bytes are bounded; the longest unused result of the
 * caller with the most leaves first.
 */
export class Results {
  /** The longest unused first. */
  readonly #kept = new Map<string, Kept>();
  readonly #running = new Map<string, Promise<Ending>>();
  /** Hashes of tools that were found to lie about being pure. */
  readonly #distrusted = new Set<string>();
  /** By the caller whose call gave a result. */
  readonly #counts = new Shares();
  readonly #bytes = new Shares();

  /**
   * The keys that find a result, the storage key first. `undefined` for a call whose result no
   * other call can reuse.
   */
  keysOf({ call, tool, inputHash }: Allowed): readonly [string, ...string[]] | undefined {
    const { determinism, output, body } = tool.manifest;
    // The cache keeps only the digest of a stream, and knows a body only after its end.
    if (output.kind === "stream" || body) return undefined;
    // The digest of an inline tool is not over its code, and nothing takes the clock and the world away from it.
    if (determinism !== "pure" || tool.body.source === "inline" || call.options.cache === false) return undefined;
    if (this.#distrusted.has(tool.hash)) return undefined;
    const everybody = `${tool.hash} ${inputHash}`;
    return hasSession(call)
      ? [`${everybody} ${JSON.stringify([call.caller, call.sessionId])}`, everybody]
      : [everybody];
  }

  find(keys: readonly string[]): Ending | Promise<Ending> | undefined {
    for (const key of keys) {
      const kept = this.#kept.get(key);
      if (!kept) continue;
      this.#kept.delete(key);
      this.#kept.set(key, kept);
      return kept.ending;
    }
    return keys.map((key) => this.#running.get(key)).find((running) => running !== undefined);
  }

  /** @param isShared Whether equal calls may wait for this one. Returns what has to be told how it ended. */
  begin(key: string, caller: string, isShared: boolean): (ending: Ending) => void {
    let tell: ((ending: Ending) => void) | undefined;
    if (isShared && !this.#running.has(key)) this.#running.set(key, new Promise((resolve) => (tell = resolve)));
    return (ending) => {
      this.#keep(key, { caller, ending });
      if (!tell) return;
      this.#running.delete(key);
      tell(ending);
    };
  }

  /** Nothing that a tool gave is given to others, from now on. */
  distrust(toolHash: string): void {
    this.#distrusted.add(toolHash);
    for (const key of this.#kept.keys()) if (toolOf(key) === toolHash) this.#drop(key);
    for (const key of this.#running.keys()) if (toolOf(key) === toolHash) this.#running.delete(key);
  }

  #drop(key: string | undefined): void {
    const kept = key === undefined ? undefined : this.#kept.get(key);
    if (key === undefined || !kept) return;
    this.#kept.delete(key);
    this.#count(kept, -1);
  }

  #keep(key: string, kept: Kept): void {
    if (!kept.ending.outcome.ok || this.#kept.has(key) || this.#distrusted.has(toolOf(key))) return;
    this.#kept.set(key, kept);
    this.#count(kept, 1);
    while (this.#counts.total > limits.cachedResults) this.#drop(this.#counts.next(this.#kept, callerOf));
    while (this.#bytes.total > limits.cachedBytes) this.#drop(this.#bytes.next(this.#kept, callerOf));
  }

  #count({ caller, ending }: Kept, sign: 1 | -1): void {
    this.#counts.add(caller, sign);
    this.#bytes.add(caller, sign * bytesOf(ending));
  }
}

const callerOf = ({ caller }: Kept): string => caller;

/** A digest has no space. */
const toolOf = (key: string): string => key.slice(0, key.indexOf(" "));

/** Without one, a call is a session of its own, and so is its isolate. */
const hasSession = ({ callId, sessionId }: CallIdentity): boolean => sessionId !== callId;

function bytesOf({ outcome }: Ending): number {
  return outcome.ok ? outcome.output.outputBytes : 0;
}
