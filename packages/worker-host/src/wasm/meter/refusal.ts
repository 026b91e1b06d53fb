/** Why a module was not metered. Each is final for these bytes and options. */
export const meterCodes = [
  /** The bytes are no WebAssembly module, are a component, or the engine does not accept them. */
  "INVALID_MODULE",
  /** The module has more than 32 MiB. */
  "MODULE_TOO_LARGE",
  /** A metered function has more than 7,654,321 bytes. */
  "FUNCTION_TOO_LARGE",
  /** A function has more than 1,000 locals: the bound on the call stack leaves no room. */
  "TOO_MANY_LOCALS",
  /** A memory begins with more than `memoryBytes` (64 MiB). */
  "MEMORY_TOO_LARGE",
  /** The module has more than 64 tables, or tables with more than 100,000 elements. */
  "TABLE_TOO_LARGE",
  /** An exception has more than 16 values. */
  "TAG_TOO_LARGE",
  /** `supportsImport` refuses an import. The message names it. */
  "UNKNOWN_IMPORT",
  /** The module carries the mark of a metered module. */
  "ALREADY_METERED",
  /** Tables, globals, payloads or results hold exceptions, where no bound counts them. */
  "UNSUPPORTED_STORED_EXNREF",
  /** The module uses garbage collection. */
  "UNSUPPORTED_GC",
  /** The module uses threads. */
  "UNSUPPORTED_THREADS",
  /** The module uses relaxed vectors. */
  "UNSUPPORTED_RELAXED_SIMD",
  /** The module has several memories. */
  "UNSUPPORTED_MULTI_MEMORY",
  /** The module has a 64-bit memory. */
  "UNSUPPORTED_MEMORY64",
  /** The module has an instruction or a type of another proposal. */
  "UNSUPPORTED_FEATURE",
] as const;

export type MeterCode = (typeof meterCodes)[number];

/** Unwinds to `meter`, which makes a result of it. */
export class MeterRefusal extends Error {
  readonly code: MeterCode;
  readonly hint: string;

  constructor(code: MeterCode, message: string, hint = "") {
    super(message);
    this.name = "MeterRefusal";
    this.code = code;
    this.hint = hint;
  }
}

/** The bytes contradict what validation has accepted, or end too early. */
export function malformed(what: string): MeterRefusal {
  return new MeterRefusal("INVALID_MODULE", `The module is malformed: ${what}.`);
}
