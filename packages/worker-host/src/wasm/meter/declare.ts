import type { ImportName, MeterOptions } from "./options.ts";
import { meterDefaults, PAGE_BYTES } from "./options.ts";
import type { Reader } from "./reader.ts";
import { malformed, MeterRefusal } from "./refusal.ts";
import type { MeterExports } from "./stamp.ts";
import { lowerLimits, valueType } from "./types.ts";
import type { Writer } from "./writer.ts";

const importKinds = ["function", "table", "memory", "global", "tag"] as const satisfies readonly ImportName["kind"][];

export interface Imported {
  readonly globals: number;
  readonly memories: number;
}

/** Copies the imports, with the maxima of tables and memories lowered, and asks for each whether there is such a thing. */
export function copyImports(reader: Reader, out: Writer, options: MeterOptions): Imported {
  let globals = 0;
  let memories = 0;
  let tables = 0;
  const count = reader.u32();
  out.u32(count);
  for (let i = 0; i < count; i++) {
    const from = reader.at;
    const module = reader.name();
    const name = reader.name();
    const kind = importKinds[reader.byte()];
    if (kind === undefined) throw malformed("an import of unknown kind");
    if (options.offers?.({ module, name, kind }) === false) throw unknownImport({ module, name, kind });
    if (kind === "table") {
      checkTables(++tables);
      valueType(reader);
      out.copy(reader.bytes, from, reader.at);
      lowerTable(reader, out, options);
      continue;
    }
    if (kind === "memory") {
      out.copy(reader.bytes, from, reader.at);
      lowerMemory(reader, out, options);
      memories++;
      continue;
    }
    if (kind === "function") reader.u32();
    else if (kind === "global") {
      valueType(reader);
      reader.byte();
      globals++;
    } else {
      reader.byte();
      reader.u32();
    }
    out.copy(reader.bytes, from, reader.at);
  }
  return { globals, memories };
}

function unknownImport({ module, name, kind }: ImportName): MeterRefusal {
  return new MeterRefusal(
    "UNKNOWN_IMPORT",
    `The module imports the ${kind} ${JSON.stringify(module)} ${JSON.stringify(name)}, which this host does not offer.`,
    "Offered are WASI preview 1 (wasi_snapshot_preview1) and the function `call` of `keyhole`.",
  );
}

export function copyTables(reader: Reader, out: Writer, options: MeterOptions): void {
  const count = reader.u32();
  checkTables(count);
  out.u32(count);
  for (let i = 0; i < count; i++) {
    const from = reader.at;
    // A table with an initial value: 0x40 0x00, the type, the limits, an expression.
    const initialized = reader.peek() === 0x40;
    if (initialized) {
      throw new MeterRefusal("UNSUPPORTED_FEATURE", "The module has a table with an initial element.");
    }
    valueType(reader);
    out.copy(reader.bytes, from, reader.at);
    lowerTable(reader, out, options);
  }
}

/** Compilers make one or two. Each can hold as much as its bound says, so without this the bound would be none. */
const maxTables = 64;

function checkTables(count: number): void {
  if (count > maxTables)
    throw new MeterRefusal("TABLE_TOO_LARGE", `The module has ${count} tables; the bound is ${maxTables}.`);
}

export function copyMemories(reader: Reader, out: Writer, options: MeterOptions): number {
  const count = reader.u32();
  out.u32(count);
  for (let i = 0; i < count; i++) lowerMemory(reader, out, options);
  return count;
}

function lowerTable(reader: Reader, out: Writer, { tableElements = meterDefaults.tableElements }: MeterOptions): void {
  lowerLimits(
    reader,
    out,
    tableElements,
    (minimum) =>
      new MeterRefusal("TABLE_TOO_LARGE", `A table begins with ${minimum} elements; the bound is ${tableElements}.`),
  );
}

function lowerMemory(reader: Reader, out: Writer, { memoryBytes = meterDefaults.memoryBytes }: MeterOptions): void {
  lowerLimits(
    reader,
    out,
    Math.min(65_536, Math.floor(memoryBytes / PAGE_BYTES)),
    (minimum) =>
      new MeterRefusal(
        "MEMORY_TOO_LARGE",
        `The memory begins with ${minimum * PAGE_BYTES} bytes; the bound is ${memoryBytes}.`,
        "Link it with a smaller stack and initial memory, or raise the bound `memoryBytes`.",
      ),
  );
}

/** Names for what metering exports, none of which the module has itself. */
export function chooseNames(reader: Reader | undefined, hasStart: boolean): MeterExports {
  const taken = new Set<string>();
  if (reader) {
    for (let count = reader.u32(); count > 0; count--) {
      taken.add(reader.name());
      reader.byte();
      reader.u32();
    }
  }
  const free = (wish: string): string => {
    let name = wish;
    while (taken.has(name)) name += "'";
    return name;
  };
  return {
    tank: free("keyhole.tank"),
    pages: free("keyhole.pages"),
    refused: free("keyhole.refused"),
    ...(hasStart && { start: free("keyhole.start") }),
  };
}
