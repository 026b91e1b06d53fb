/** SQLite's own names at the end of a message, and Cloudflare's words for the storage of an object. */
const storageWords = /: SQLITE_[A-Z]+\.?$|^Internal error .*Durable Object storage .*caused object to be reset\.$/;

/**
 * Whether a kernel cannot write its log. The platform resets an object whose storage failed, so the
 * gateway sees an error of the platform. A kernel that continues throws its own error.
 *
 * @param thrown the error of a kernel, or of the path to it
 */
export function isStorageFault(thrown: unknown): boolean {
  if (!(thrown instanceof Error)) return false;
  if (thrown.name === "AuditUnavailable") return true;
  // The platform marks its own errors: any other error with such words came from foreign text.
  return "durableObjectReset" in thrown && thrown.durableObjectReset === true && storageWords.test(thrown.message);
}
