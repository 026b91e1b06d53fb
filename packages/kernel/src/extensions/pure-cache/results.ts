import type { Ending } from "../../call/ending/ending.ts";
import type { CallIdentity } from "../../call/arrival/entry.ts";
import type { Allowed } from "../../call/steps/authorize.ts";
import * as limits from "../../limits.ts";

/**
 * Results of pure tools, by tool hash and input hash. A tool may falsely claim to be pure, and its
 * memory of one session must not reach another. So a result serves other sessions only when its
 * isolate had no earlier call, which holds for calls without a session of their own. Any other
 * result serves its own session. Entries and bytes are bounded; the longest unused result leaves
 * first.
 */
export class Results {
  readonly #kept = new Map<string, Ending>();
  readonly #running = new Map<string, Promise<Ending>>();
  /** Hashes of tools that were found to lie about being pure. */
  readonly #distrusted = new Set<string>();
  #bytes = 0;

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
      const ending = this.#kept.get(key);
      if (!ending) continue;
      this.#kept.delete(key);
      this.#kept.set(key, ending);
      return ending;
    }
    return keys.map((key) => this.#running.get(key)).find((running) => running !== undefined);
  }

  /** @param isShared Whether equal calls may wait for this one. Returns what has to be told how it ended. */
  begin(key: string, isShared: boolean): (ending: Ending) => void {
    let tell: ((ending: Ending) => void) | undefined;
    if (isShared && !this.#running.has(key)) this.#running.set(key, new Promise((resolve) => (tell = resolve)));
    return (ending) => {
      this.#keep(key, ending);
      if (!tell) return;
      this.#running.delete(key);
      tell(ending);
    };
  }

  /** Nothing that a tool gave is given to others, from now on. */
  distrust(toolHash: string): void {
    this.#distrusted.add(toolHash);
    for (const [key, ending] of this.#kept) if (toolOf(key) === toolHash) this.#drop(key, ending);
    for (const key of this.#running.keys()) if (toolOf(key) === toolHash) this.#running.delete(key);
  }

  #drop(key: string, ending: Ending): void {
    this.#kept.delete(key);
    this.#bytes -= bytesOf(ending);
  }

  #keep(key: string, ending: Ending): void {
    if (!ending.outcome.ok || this.#kept.has(key) || this.#distrusted.has(toolOf(key))) return;
    this.#kept.set(key, ending);
    this.#bytes += bytesOf(ending);
    for (const [oldest, each] of this.#kept) {
      if (this.#kept.size <= limits.cachedResults && this.#bytes <= limits.cachedBytes) return;
      this.#drop(oldest, each);
    }
  }
}

/** A digest has no space. */
const toolOf = (key: string): string => key.slice(0, key.indexOf(" "));

/** Without one, a call is a session of its own, and so is its isolate. */
const hasSession = ({ callId, sessionId }: CallIdentity): boolean => sessionId !== callId;

function bytesOf({ outcome }: Ending): number {
  return outcome.ok ? outcome.output.outputBytes : 0;
}
