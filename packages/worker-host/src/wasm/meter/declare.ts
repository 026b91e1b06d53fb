import type { ImportName, MeterOptions } from "./options.ts";
import { type Limits, readLimits, writeLimits } from "./limits.ts";
import { meterDefaults, PAGE_BYTES } from "./options.ts";
import type { Reader } from "./reader.ts";
import { malformed, MeterRefusal } from "./refusal.ts";
import { checkResults, checkStored, checkTag } from "./stored.ts";
import { type FunctionType, valueType } from "./types.ts";
import type { Writer } from "./writer.ts";

const importKinds = ["function", "table", "memory", "global", "tag"] as const satisfies readonly ImportName["kind"][];

/** An import, or a declaration of the module's own. */
interface Declared {
  readonly kind: ImportName["kind"];
  /** Its bytes, as far as they stay as they are: up to its limits, if it has some. */
  readonly from: number;
  readonly to: number;
  readonly limits?: Limits;
}

/** The imports of a module, and its own tables and memories. */
export interface Declarations {
  readonly imports: readonly Declared[];
  readonly tables: readonly Declared[];
  readonly memories: readonly Declared[];
}

interface Sections {
  readonly imports: Reader | undefined;
  readonly tables: Reader | undefined;
  readonly memories: Reader | undefined;
}

export function readDeclarations(
  sections: Sections,
  types: readonly FunctionType[],
  options: MeterOptions,
): Declarations {
  const each = (reader: Reader | undefined, read: (reader: Reader) => Declared): Declared[] =>
    reader === undefined ? [] : Array.from({ length: reader.u32() }, () => read(reader));
  return {
    imports: each(sections.imports, (reader) => readImport(reader, types, options)),
    tables: each(sections.tables, readTable),
    memories: each(sections.memories, (reader) => ({
      kind: "memory",
      from: reader.at,
      to: reader.at,
      limits: readLimits(reader),
    })),
  };
}

/** Asks for each import whether there is such a thing. */
function readImport(reader: Reader, types: readonly FunctionType[], { supportsImport }: MeterOptions): Declared {
  const from = reader.at;
  const module = reader.name();
  const name = reader.name();
  const kind = importKinds[reader.byte()];
  if (kind === undefined) throw malformed("an import of unknown kind");
  if (supportsImport?.({ module, name, kind }) === false) throw unknownImport({ module, name, kind });
  if (kind === "function") checkResults(typeAt(types, reader.u32()));
  if (kind === "table") checkStored(valueType(reader), "a table");
  if (kind === "global") {
    checkStored(valueType(reader), "a global variable");
    reader.byte();
  }
  if (kind === "tag") {
    reader.byte();
    checkTag(typeAt(types, reader.u32()));
  }
  const to = reader.at;
  return kind === "table" || kind === "memory" ? { kind, from, to, limits: readLimits(reader) } : { kind, from, to };
}

export function typeAt(types: readonly FunctionType[], index: number): FunctionType {
  const type = types[index];
  if (type === undefined) throw malformed("an unknown type");
  return type;
}

function unknownImport({ module, name, kind }: ImportName): MeterRefusal {
  return new MeterRefusal(
    "UNKNOWN_IMPORT",
    `The module imports the ${kind} ${JSON.stringify(module)} ${JSON.stringify(name)}, which this host does not offer.`,
    "Offered are WASI preview 1 (wasi_snapshot_preview1) and the function `call` of `keyhole`.",
  );
}

function readTable(reader: Reader): Declared {
  const from = reader.at;
  // A table with an initial value: 0x40 0x00, the type, the limits, an expression.
  if (reader.peek() === 0x40)
    throw new MeterRefusal("UNSUPPORTED_FEATURE", "The module has a table with an initial element.");
  checkStored(valueType(reader), "a table");
  return { kind: "table", from, to: reader.at, limits: readLimits(reader) };
}

/** Compilers make one or two. */
const maxTables = 64;

/** How far each table may grow beyond what it begins with, so that all together stay within their bound. */
export function tableRoom(
  { imports, tables }: Declarations,
  { tableElements = meterDefaults.tableElements }: MeterOptions,
): number {
  const all = [...imports, ...tables].filter(({ kind }) => kind === "table");
  if (all.length > maxTables)
    throw new MeterRefusal("TABLE_TOO_LARGE", `The module has ${all.length} tables; the bound is ${maxTables}.`);
  const minimum = all.reduce((sum, { limits }) => sum + (limits?.minimum ?? 0), 0);
  if (minimum > tableElements)
    throw new MeterRefusal(
      "TABLE_TOO_LARGE",
      `The tables begin with ${minimum} elements; the bound is ${tableElements}.`,
    );
  return Math.floor((tableElements - minimum) / Math.max(1, all.length));
}

/** As many bytes as an element takes in an engine. */
const ELEMENT_BYTES = 16;

/** The engine holds segments of elements beside the tables. Each element is a byte of them at least. */
export function checkElements(byteLength: number, { tableElements = meterDefaults.tableElements }: MeterOptions): void {
  const bound = tableElements * ELEMENT_BYTES;
  if (byteLength > bound)
    throw new MeterRefusal(
      "TABLE_TOO_LARGE",
      `The elements of tables take ${byteLength} bytes; the bound is ${bound}.`,
    );
}

/** Copies declarations, with the maxima of tables and memories lowered. */
export function copyDeclared(
  source: Uint8Array,
  declared: readonly Declared[],
  room: number,
  options: MeterOptions,
  out: Writer,
): void {
  out.u32(declared.length);
  for (const { kind, from, to, limits } of declared) {
    out.copy(source, from, to);
    if (limits !== undefined)
      writeLimits(limits, kind === "table" ? limits.minimum + room : memoryPages(limits, options), out);
  }
}

function memoryPages({ minimum }: Limits, { memoryBytes = meterDefaults.memoryBytes }: MeterOptions): number {
  const bound = Math.min(65_536, Math.floor(memoryBytes / PAGE_BYTES));
  if (minimum <= bound) return bound;
  throw new MeterRefusal(
    "MEMORY_TOO_LARGE",
    `The memory begins with ${minimum * PAGE_BYTES} bytes; the bound is ${memoryBytes}.`,
    "Link it with a smaller stack and initial memory, or raise the bound `memoryBytes`.",
  );
}
