const names: ReadonlySet<string> = new Set(["QuotaExceededError", "ENOSPC", "EDQUOT", "SQLITE_FULL"]);
const words = /\b(?:QuotaExceededError|ENOSPC|EDQUOT|SQLITE_FULL)\b/;
/** Errors that are the cause of each other. */
const maxCauses = 5;

/** The last report of the log's storage about its space. */
export class StoragePressure {
  #isOutOfSpace = false;

  /** A fault of the storage. */
  heard(error: unknown): void {
    this.#isOutOfSpace ||= isOutOfSpace(error);
  }

  /** Whether it said since the last question that it has no space. */
  takeOutOfSpace(): boolean {
    const said = this.#isOutOfSpace;
    this.#isOutOfSpace = false;
    return said;
  }
}

/** Whether a storage says that it has no space: in the words of a file system, of SQLite, or of a browser. */
function isOutOfSpace(error: unknown): boolean {
  let fault = error;
  for (let depth = 0; depth < maxCauses && fault instanceof Error; depth++) {
    const { name, code = "", message, cause }: Error & { readonly code?: string } = fault;
    if (names.has(name) || names.has(code) || words.test(message)) return true;
    fault = cause;
  }
  return false;
}
