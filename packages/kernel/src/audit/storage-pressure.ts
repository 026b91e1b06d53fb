import { type Foreign, membersOf, textOf } from "../support/foreign.ts";

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
  try {
    let foreign: Foreign<unknown> = error;
    for (let depth = 0; depth < maxCauses && typeof foreign === "object" && foreign !== null; depth++) {
      const { name, code, message, cause } = membersOf(foreign as Fault, "name", "code", "message", "cause");
      if (names.has(textOf(name)) || names.has(textOf(code)) || words.test(textOf(message))) return true;
      foreign = cause;
    }
  } catch {
    // A getter that throws gives no text.
  }
  return false;
}

interface Fault {
  readonly name?: string;
  readonly code?: string;
  readonly message?: string;
  readonly cause?: unknown;
}
