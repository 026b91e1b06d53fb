/**
 * Stores bytes under their digest: values that the log commits to but does not contain, and outputs that are too large to be handed around.
 * A method that rejects did nothing. `test/contract/content.ts` says what every store must do.
 */
export interface ContentStore {
  /**
   * The longest value, in bytes. A larger value that the policy keeps ends its call, not the log.
   * Default: no bound.
   */
  readonly maxBytes?: number;
  /**
   * Durable when it resolves. Bytes under a digest never change: putting them again does nothing.
   *
   * @param outputOf the caller that wants the bytes by reference. A store without room may drop
   * the oldest outputs of the caller with the most. Default: bytes that the log commits to, which stay until they are deleted
   */
  put(digest: string, bytes: Uint8Array, outputOf?: string): Promise<void>;
  /**
   * `undefined` for an absent digest. The reader checks the digest: a party can tamper with a store.
   */
  get(digest: string): Promise<Uint8Array | undefined>;
  /** Deleting an absent digest succeeds. */
  delete(digest: string): Promise<void>;
}
