export const PAGE_BYTES = 65_536;

export interface ImportName {
  readonly module: string;
  readonly name: string;
  readonly kind: "function" | "table" | "memory" | "global" | "tag";
}

export interface MeterOptions {
  /** Upper bound of the module's memory, in bytes, rounded down to pages. Default 64 MiB. */
  readonly memoryBytes?: number;
  /** Upper bound of each table, in elements. Default 100,000. */
  readonly tableElements?: number;
  /** The meter refuses a larger module before it reads it. Default 32 MiB. */
  readonly moduleBytes?: number;
  /** Upper bound of one function's body after metering. Default 7,654,321, which engines have too. */
  readonly functionBytes?: number;
  /** Local variables of one function, parameters included. Default 1,000. */
  readonly locals?: number;
  /** Which imports the host supports. The meter refuses any other, by name. Default: all. */
  readonly supportsImport?: (wanted: ImportName) => boolean;
}

export const meterDefaults: Required<Omit<MeterOptions, "supportsImport">> = {
  memoryBytes: 67_108_864,
  tableElements: 100_000,
  moduleBytes: 33_554_432,
  /** V8, SpiderMonkey and JavaScriptCore refuse a larger one (WebAssembly JavaScript Interface, "Limits"). */
  functionBytes: 7_654_321,
  /** With 8 bytes each a frame of 8 KB: the estimate of the call stack then stays below what engines have. */
  locals: 1_000,
};
