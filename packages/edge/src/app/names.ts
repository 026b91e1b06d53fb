import { limits } from "@keyhole/kernel";

/** Of a tenant's name, percent-encoded. It begins each key of a bucket, and a key has 1,024 bytes. */
const TENANT_BYTES = 256;

/**
 * A name that is a key: of an object, a bucket, a namespace, a log. Each of them has an encoding of its own, and replaces what it cannot encode. So a name is well-formed, and has no
 * sign of a replacement: two different names must not become one.
 */
export const isName = (text: unknown): text is string =>
  typeof text === "string" &&
  text !== "" &&
  text.length <= limits.nameLength &&
  text.isWellFormed() &&
  !text.includes("\ufffd");

/** A tenant's name is also a segment of a path. */
export const isTenant = (text: unknown): text is string =>
  isName(text) && !/^\.{1,2}$/.test(text) && encodeURIComponent(text).length <= TENANT_BYTES;

/** For the person who sets names. */
export const nameRules: string = `A name has 1 to ${limits.nameLength} well-formed characters, and a tenant's at most ${TENANT_BYTES} bytes with percent-encoding.`;
