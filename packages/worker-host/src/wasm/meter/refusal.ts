/** Why a module was not metered. Each is final for these bytes and options. */
export const meterCodes = [
  /** No WebAssembly module, or one that the engine does not accept. */
  "INVALID_MODULE",
  "MODULE_TOO_LARGE",
  "FUNCTION_TOO_LARGE",
  /** More locals in one function than the bound on the call stack leaves room for. */
  "TOO_MANY_LOCALS",
  /** A memory's declared minimum is above the bound. */
  "MEMORY_TOO_LARGE",
  /** Tables begin with more elements than all may have together, or there are too many of them. */
  "TABLE_TOO_LARGE",
  /** An exception with more values than a bounded stack of them leaves room for. */
  "TAG_TOO_LARGE",
  /** An import that the host does not offer, or offers as something else. */
  "UNKNOWN_IMPORT",
  /** The module says of itself that it is metered already. */
  "ALREADY_METERED",
  /** Exceptions in tables, globals, payloads or results, where no bound counts them. */
  "UNSUPPORTED_STORED_EXNREF",
  "UNSUPPORTED_GC",
  "UNSUPPORTED_THREADS",
  "UNSUPPORTED_RELAXED_SIMD",
  "UNSUPPORTED_MULTI_MEMORY",
  "UNSUPPORTED_MEMORY64",
  /** An instruction or type of a proposal that is in no table here. */
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
