import { knownOptions } from "@keyhole/kernel/foreign";
import { hashBytes } from "@keyhole/kernel";
import { checkElements, copyDeclared, type Declarations, readDeclarations, tableRoom, typeAt } from "./declare.ts";
import { checkGlobals } from "./constants.ts";
import { ExitTypes } from "./exit-types.ts";
import { chooseNames } from "./export-names.ts";
import { declaredTypes, rewriteCode } from "./functions.ts";
import { find, order, readLayout, type Section, section } from "./layout.ts";
import { type MeterOptions, meterDefaults } from "./options.ts";
import type { MeterGlobals } from "./plan.ts";
import type { Reader } from "./reader.ts";
import { type MeterCode, MeterRefusal } from "./refusal.ts";
import { METER_VERSION, type MeterExports, type MeterSection, writeMeterSection } from "./meter-section.ts";
import { checkTag } from "./stored.ts";
import { type FunctionType, functionTypes } from "./types.ts";
import { Writer } from "./writer.ts";

export interface MeterReport extends MeterSection {
  readonly originalBytes: number;
  readonly meteredBytes: number;
  readonly functions: number;
}

export type MeterResult =
  | { readonly ok: true; readonly bytes: Uint8Array<ArrayBuffer>; readonly report: MeterReport }
  | { readonly ok: false; readonly code: MeterCode; readonly message: string; readonly hint: string };

const magic = [0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00];

/**
 * Rewrites a WebAssembly module so that it counts what it executes and stops at a bound. The count depends on the module and its inputs
 * alone and is the same on every engine: see docs/internals/metering.md for the table. Never throws for what the bytes are.
 *
 * @example
 * const metered = meter(bytes, { memoryBytes: 16 * 2 ** 20 });
 * if (!metered.ok) return metered.message;
 * const { exports } = await WebAssembly.instantiate(await WebAssembly.compile(metered.bytes), imports);
 */
export function meter(bytes: Uint8Array<ArrayBuffer>, given: MeterOptions = {}): MeterResult {
  const options = knownOptions(
    given,
    {
      memoryBytes: 0,
      tableElements: 0,
      moduleBytes: 0,
      functionBytes: 0,
      locals: 0,
      supportsImport: true,
    },
    "meter",
  );
  try {
    return rewrite(bytes, options);
  } catch (error) {
    if (!(error instanceof MeterRefusal)) throw error;
    const { code, message, hint } = error;
    return { ok: false, code, message, hint };
  }
}

function rewrite(bytes: Uint8Array<ArrayBuffer>, options: MeterOptions): MeterResult {
  checkWhole(bytes, options);
  const sections = readLayout(bytes);
  const types = functionTypes(find(sections, section.type, bytes));
  const copied = new Map<number, Writer>();
  const globals = globalsBehind(
    copyDeclarations(bytes, sections, types, options, copied),
    find(sections, section.global, bytes),
  );
  const startAt = find(sections, section.start, bytes)?.u32();
  const names = chooseNames(find(sections, section.export, bytes), startAt !== undefined);
  copied.set(section.global, addGlobals(find(sections, section.global, bytes)));
  copied.set(section.export, addExports(find(sections, section.export, bytes), names, globals, startAt));
  const functionTypesOf = declaredTypes(find(sections, section.function, bytes), types);
  const code = find(sections, section.code, bytes);
  const exits = new ExitTypes(types);
  if (code) copied.set(section.code, rewriteCode(code, functionTypesOf, exits, globals, options));
  if (exits.added > 0) copied.set(section.type, exits.addTo(find(sections, section.type, bytes)));

  const meterSection: MeterSection = { version: METER_VERSION, originalHash: hashBytes(bytes), exports: names };
  const metered = assemble(bytes, sections, copied, meterSection);
  const report = {
    ...meterSection,
    originalBytes: bytes.length,
    meteredBytes: metered.length,
    functions: functionTypesOf.length,
  };
  return { ok: true, bytes: metered, report };
}

function checkWhole(bytes: Uint8Array<ArrayBuffer>, { moduleBytes = meterDefaults.moduleBytes }: MeterOptions): void {
  if (bytes.length > moduleBytes)
    throw new MeterRefusal("MODULE_TOO_LARGE", `The module has ${bytes.length} bytes; the bound is ${moduleBytes}.`);
  if (magic.some((byte, i) => bytes[i] !== byte)) {
    const component = bytes[6] === 1 && magic.slice(0, 4).every((byte, i) => bytes[i] === byte);
    throw new MeterRefusal(
      "INVALID_MODULE",
      component ? "This is a component, not a core module." : "This is not a WebAssembly module of version 1.",
      component ? "Give the core module, built for wasm32-wasi preview 1." : "",
    );
  }
  // From here on the bytes are known to be well-formed, and the checks below only see to it that nothing escapes the count.
  if (!WebAssembly.validate(bytes))
    throw new MeterRefusal("INVALID_MODULE", "The module is not valid, or uses a feature that this engine lacks.");
}

/** @returns how many globals are imported */
function copyDeclarations(
  bytes: Uint8Array,
  sections: readonly Section[],
  types: readonly FunctionType[],
  options: MeterOptions,
  copied: Map<number, Writer>,
): number {
  const at = (id: number): Reader | undefined => find(sections, id, bytes);
  const readers = { imports: at(section.import), tables: at(section.table), memories: at(section.memory) };
  const declarations = readDeclarations(readers, types, options);
  checkTags(at(section.tag), types);
  checkGlobals(at(section.global));
  const elements = at(section.element);
  if (elements) checkElements(elements.end - elements.at, options);
  const room = tableRoom(declarations, options);
  const places = { imports: section.import, tables: section.table, memories: section.memory } as const satisfies Record<
    keyof Declarations,
    number
  >;
  for (const name of ["imports", "tables", "memories"] as const) {
    if (readers[name] === undefined) continue;
    const out = new Writer();
    copied.set(places[name], out);
    copyDeclared(bytes, declarations[name], room, options, out);
  }
  const { imports, memories } = declarations;
  const importedOf = (kind: string): number => imports.filter((each) => each.kind === kind).length;
  if (importedOf("memory") + memories.length > 1)
    throw new MeterRefusal("UNSUPPORTED_MULTI_MEMORY", "The module has more than one memory.");
  return importedOf("global");
}

function checkTags(reader: Reader | undefined, types: readonly FunctionType[]): void {
  for (let count = reader?.u32() ?? 0; reader !== undefined && count > 0; count--) {
    reader.byte();
    checkTag(typeAt(types, reader.u32()));
  }
}

function globalsBehind(imported: number, section: Reader | undefined): MeterGlobals {
  const first = imported + (section?.u32() ?? 0);
  return { fuel: first, pages: first + 1, refused: first + 2 };
}

const ownGlobals = [
  // i64, mutable, i64.const 0, end: a run without fuel is out of fuel.
  [0x7e, 1, 0x42, 0, 0x0b],
  [0x7f, 1, 0x41, 0, 0x0b],
  [0x7f, 1, 0x41, 0, 0x0b],
];

function addGlobals(reader: Reader | undefined): Writer {
  const out = new Writer();
  out.u32((reader?.u32() ?? 0) + ownGlobals.length);
  if (reader) out.copy(reader.bytes, reader.at, reader.end);
  for (const each of ownGlobals) out.bytes(each);
  return out;
}

function addExports(
  reader: Reader | undefined,
  names: MeterExports,
  globals: MeterGlobals,
  startAt: number | undefined,
): Writer {
  const out = new Writer();
  out.u32((reader?.u32() ?? 0) + ownGlobals.length + (names.start === undefined ? 0 : 1));
  if (reader) out.copy(reader.bytes, reader.at, reader.end);
  const add = (name: string, kind: number, index: number): void => {
    out.name(name);
    out.byte(kind);
    out.u32(index);
  };
  add(names.fuel, 3, globals.fuel);
  add(names.pages, 3, globals.pages);
  add(names.refused, 3, globals.refused);
  if (names.start !== undefined && startAt !== undefined) add(names.start, 0, startAt);
  return out;
}

/** The original's sections in their order, each as it was or as it became; ours where they were missing. */
function assemble(
  bytes: Uint8Array,
  sections: readonly Section[],
  copied: ReadonlyMap<number, Writer>,
  meterSection: MeterSection,
): Uint8Array<ArrayBuffer> {
  const out = new Writer(bytes.length * 2);
  out.bytes(magic);
  const missing = [section.global, section.export].filter((id) => !sections.some((each) => each.id === id));
  const add = (id: number, body: Uint8Array): void => {
    out.byte(id);
    out.sized(body);
  };
  const addMissing = (rank: number): void => {
    while (missing.length > 0 && order.indexOf(missing[0]!) < rank) {
      const id = missing.shift()!;
      add(id, copied.get(id)!.written);
    }
  };
  for (const { id, from, to } of sections) {
    if (id !== section.custom) addMissing(order.indexOf(id));
    if (id !== section.start) add(id, copied.get(id)?.written ?? bytes.subarray(from, to));
  }
  addMissing(Number.POSITIVE_INFINITY);
  const meterBody = new Writer();
  writeMeterSection(meterSection, meterBody);
  add(section.custom, meterBody.written);
  return out.written.slice();
}
