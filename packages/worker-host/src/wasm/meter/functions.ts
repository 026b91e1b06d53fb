import { CodeWriter } from "./code-writer.ts";
import { typeAt } from "./declare.ts";
import { Emitter } from "./emit.ts";
import type { ExitTypes } from "./exit-types.ts";
import { type MeterOptions, meterDefaults } from "./options.ts";
import type { FunctionPlan, MeterGlobals } from "./plan.ts";
import type { Reader } from "./reader.ts";
import { malformed, MeterRefusal } from "./refusal.ts";
import { Scanner } from "./scan.ts";
import { checkResults } from "./stored.ts";
import { UNIT_BYTES } from "./fuel-global.ts";
import { EXCEPTION_SLOTS, type FunctionType, valueType } from "./types.ts";
import { Writer } from "./writer.ts";

/** The estimated frame of an activation without locals: return address, frame pointer, instance, spilled registers. */
const FRAME_BYTES = 64;
const SLOT_BYTES = 8;

/** The types of the module's own functions, in their order. */
export function declaredTypes(reader: Reader | undefined, types: readonly FunctionType[]): FunctionType[] {
  const declared: FunctionType[] = [];
  for (let count = reader?.u32() ?? 0; reader !== undefined && count > 0; count--) {
    const type = typeAt(types, reader.u32());
    checkResults(type);
    declared.push(type);
  }
  return declared;
}

/** Rewrites the bodies of all functions. */
export function rewriteCode(
  code: Reader,
  types: readonly FunctionType[],
  exits: ExitTypes,
  globals: MeterGlobals,
  { functionBytes = meterDefaults.functionBytes, locals: maxLocals = meterDefaults.locals }: MeterOptions,
): Writer {
  const out = new Writer((code.end - code.at) * 2);
  const body = new CodeWriter(65_536);
  const scanner = new Scanner(globals.fuel);
  const emitter = new Emitter(globals, body);
  const count = code.u32();
  if (count !== types.length) throw malformed("as many bodies as functions");
  out.u32(count);
  for (let i = 0; i < count; i++) {
    const reader = code.part(code.u32());
    const type = types[i]!;
    const { slots, locals, declarations } = readLocals(reader, type);
    checkLocals(i, locals, maxLocals);
    const { at: from, end: to, bytes: source } = reader;
    scanner.scan(reader);
    const { keeps } = scanner.flow;
    checkLocals(i, locals + keeps, maxLocals);
    body.clear();
    const frameUnits = Math.ceil((FRAME_BYTES + SLOT_BYTES * (slots + EXCEPTION_SLOTS * keeps)) / UNIT_BYTES);
    const exitType = (): ArrayLike<number> => exits.blockType(type);
    emitter.emit({ source, declarations, from, to, locals, frameUnits, exitType }, scanner.points, scanner.flow);
    if (body.at > functionBytes)
      throw new MeterRefusal(
        "FUNCTION_TOO_LARGE",
        `Function ${i} has ${body.at} metered bytes; the bound is ${functionBytes}.`,
      );
    out.sized(body.written);
  }
  return out;
}

interface Locals {
  /** Parameters included. */
  readonly locals: number;
  readonly slots: number;
  readonly declarations: FunctionPlan["declarations"];
}

function readLocals(reader: Reader, { parameters, parameterSlots }: FunctionType): Locals {
  const count = reader.u32();
  const from = reader.at;
  let locals = parameters;
  let slots = parameterSlots;
  for (let group = 0; group < count; group++) {
    const many = reader.u32();
    locals += many;
    slots += many * valueType(reader).slots;
  }
  return { locals, slots, declarations: { count, from, to: reader.at } };
}

function checkLocals(index: number, locals: number, bound: number): void {
  if (locals <= bound) return;
  throw new MeterRefusal(
    "TOO_MANY_LOCALS",
    `Function ${index} has ${locals} local variables and exceptions that it may keep; the bound is ${bound}.`,
  );
}
