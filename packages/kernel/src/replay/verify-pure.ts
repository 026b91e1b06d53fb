import { knownOptions } from "../json/known-options.ts";
import { effectiveBounds } from "../bounds/effective.ts";
import type { Bounds } from "../bounds/bounds.ts";
import { blake3Hash } from "../hash/blake3-hash.ts";
import type { Hash } from "../hash/hash.ts";
import {
  type PureCheck,
  type PureOptions as OwnPureOptions,
  verifyPure as verifyPureBy,
} from "../isolate/verify-pure.ts";

export interface PureOptions extends Omit<OwnPureOptions, "bounds" | "hash"> {
  /** Lower than the tool's, for each run. Default: the tool's. */
  readonly bounds?: Partial<Bounds>;
  /** Of the outcomes' digests. Default BLAKE3. */
  readonly hash?: Hash;
}

const known = { host: true, tool: true, inputs: true, runs: 1, clock: true, bounds: true, hash: true } as const;

/**
 * Whether a tool that says it is `pure` is: its outcome depends on its input alone, and it asks for nothing. A tool can pass and still lie about inputs
 * that were not tried; one that `varies` or `asked` lies. A kernel has the same as a method, which also puts it on record.
 */
export async function verifyPure(given: PureOptions): Promise<PureCheck> {
  const { bounds, hash = blake3Hash, ...options } = knownOptions(given, known, "verifyPure");
  const { tool } = options;
  return verifyPureBy({ ...options, bounds: effectiveBounds(tool.manifest.bounds, bounds), hash });
}
