import type { Digest } from "../hash/hash.ts";

/** Stands in a result for bytes that are not in it. */
export type ContentReference = {
  /** Of the bytes. */
  readonly digest: Digest;
  readonly byteLength: number;
  readonly mediaType?: string;
};
