import { blake3Hash } from "../hash/blake3-hash.ts";
import type { Hash } from "../hash/hash.ts";
import {
  type PureCheck,
  type PureOptions as OwnPureOptions,
  verifyPure as verifyPureBy,
} from "../isolate/verify-pure.ts";

export interface PureOptions extends Omit<OwnPureOptions, "hash"> {
  /** Of the outcomes' digests. Default BLAKE3. */
  readonly hash?: Hash;
}

/**
 * Whether a tool that says it is `pure` is: its outcome depends on its input alone, and it asks for nothing. A tool can pass and still lie about inputs
 * that were not tried; one that `varies` or `asked` lies. A kernel has the same as a method, which also puts it on record.
 */
export function verifyPure({ hash = blake3Hash, ...options }: PureOptions): Promise<PureCheck> {
  return verifyPureBy({ ...options, hash });
}
