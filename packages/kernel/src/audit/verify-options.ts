import type { DigestAlgorithm } from "../hash/hash.ts";
import type { OptionNames } from "../json/known-options.ts";
import type { TrustedKeys } from "./trusted-keys.ts";

export interface VerifyOptions {
  /**
   * Checkpoints of the same log, as they were found: foreign data. A log that ends before one of them was cut; one whose events differ was
   * rewritten. They need the log from its beginning.
   */
  readonly checkpoints?: readonly unknown[];
  /** Keys whose checkpoints vouch for the log. With them, a checkpoint that none of them signed is a fault. */
  readonly trusted?: TrustedKeys | undefined;
  /** Take events of which only the place in the chain was handed out. Default: they are a fault, because anything could have been in them. */
  readonly withheld?: boolean;
  /** Take a part of a log, which begins with any event. Default: an event that is missing at the beginning is a fault. */
  readonly part?: boolean;
  /** The hash algorithm of every event. Default: that of the first event. */
  readonly algorithm?: DigestAlgorithm;
}

export const verifyOptions: OptionNames<VerifyOptions> = {
  checkpoints: true,
  trusted: true,
  withheld: true,
  part: true,
  algorithm: true,
};
