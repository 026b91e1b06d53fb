/**
 * Where bytes are kept under their digest: values that the log commits to but does not contain, and outputs that are too large to be handed around.
 * A method that rejects did nothing. `test/contract/content.ts` says what every store must do.
 */
export interface ContentStore {
  /** Of one value. What the policy keeps and is larger ends its call, not the log. Default: no bound. */
  readonly maxBytes?: number;
  /**
   * Durable when it resolves. Bytes under a digest never change: putting them again does nothing.
   *
   * @param use `output`: a caller wants it by reference, and can be told that it is gone; a store without room may drop the oldest of them. Default: what the log commits
   *   to, which stays until it is deleted.
   */
  put(digest: string, bytes: Uint8Array, use?: "output"): Promise<void>;
  /** `undefined` for what is not there. Whoever reads checks the digest: a store can be tampered with. */
  get(digest: string): Promise<Uint8Array | undefined>;
  /** What is not there is no fault: afterwards it is not there. */
  delete(digest: string): Promise<void>;
}
