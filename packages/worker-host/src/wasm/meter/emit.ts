import { blockType, type CodeWriter, op, valueType } from "./code-writer.ts";
import { pointKind, type MeteringPoints } from "./metering-points.ts";
import type { FunctionPlan, MeterGlobals } from "./plan.ts";
import type { Flow } from "./flow.ts";
import { Reader } from "./reader.ts";
import { DEPTH_BITS, DEPTH_MASK, EXHAUSTED_LEB, packed } from "./fuel-global.ts";

/** Where the locals of one metered function are. They come behind its own. */
interface MeterLocals {
  /** i64: the fuel global, between calls, in functions that loop. */
  readonly fuel: number;
  /** i64: the depth of this activation, in functions that catch. */
  readonly depth: number;
  readonly count: number;
  readonly result: number;
}

/**
 * A function that neither calls nor loops ends by itself, and a small one is not worth a look at the fuel: where a caller calls it in a straight line,
 * the caller's own size bounds how far that goes beyond the fuel. With large ones it would go a million times as far.
 */
const LEAF_BYTES = 256;

/** Writes metered functions. */
export class Emitter {
  readonly #globals: MeterGlobals;
  readonly #out: CodeWriter;
  /** A local caches the fuel global between calls; otherwise always in its global. */
  #cached = false;
  /** It calls, so that its activations count for the depth. */
  #nests = false;
  /** It looks at its entry whether the run has ended. */
  #checks = false;
  #catches = false;
  /** Its body is a block, and branches to its own label meet at the block's end. */
  #wraps = false;
  #frameUnits = 0;
  #locals: MeterLocals = { fuel: 0, depth: 0, count: 0, result: 0 };

  constructor(globals: MeterGlobals, out: CodeWriter) {
    this.#globals = globals;
    this.#out = out;
  }

  emit(plan: FunctionPlan, points: MeteringPoints, flow: Flow): void {
    const { source, to } = plan;
    const out = this.#out;
    this.#nests = flow.hasCall;
    this.#checks = flow.hasCall || to - plan.from > LEAF_BYTES;
    this.#catches = flow.catches;
    this.#cached = flow.hasLoop && !flow.catches;
    this.#wraps = flow.branchesOut && (this.#cached || this.#nests);
    this.#frameUnits = flow.hasCall ? plan.frameUnits : 0;
    this.#declare(plan, flow);
    if (this.#wraps) {
      out.byte(op.block);
      out.bytes(plan.exitType());
    }
    let at = plan.from;
    for (let i = 0; i < points.count; i++) {
      const here = points.at(i);
      out.copy(source, at, here);
      at = here + this.#meterAt(points.kind(i), points.fuel(i), source, here);
    }
    const closing = to - 1;
    out.copy(source, at, closing);
    if (this.#wraps) {
      out.byte(op.end);
      if (flow.caughtAtEnd) this.#restoreDepth();
    }
    if (this.#wraps || flow.endIsLive) this.#leave();
    out.byte(op.end);
  }

  #declare({ source, declarations, locals }: FunctionPlan, flow: Flow): void {
    const out = this.#out;
    const wide = this.#cached || this.#catches ? 1 : 0;
    const narrow = flow.counts ? 2 : 0;
    this.#locals = { fuel: locals, depth: locals, count: locals + wide, result: locals + wide + 1 };
    out.u32(declarations.count + (wide > 0 ? 1 : 0) + (narrow > 0 ? 1 : 0));
    out.copy(source, declarations.from, declarations.to);
    if (wide > 0) out.bytes([wide, valueType.i64]);
    if (narrow > 0) out.bytes([narrow, valueType.i32]);
  }

  /** @returns how many bytes of the original it has written itself */
  #meterAt(kind: number, fuel: number, source: Uint8Array, at: number): number {
    switch (kind) {
      case pointKind.entry:
        this.#enter(fuel);
        return 0;
      case pointKind.charge:
        if (fuel > 0) this.#charge(fuel, this.#cached);
        return 0;
      case pointKind.loop:
        this.#chargeLoop(fuel);
        return 0;
      case pointKind.resume:
        if (fuel > 0) this.#charge(fuel, false);
        else this.#load();
        return 0;
      case pointKind.caught:
        this.#restoreDepth();
        if (fuel > 0) this.#charge(fuel, false);
        return 0;
      case pointKind.call:
        this.#save();
        return 0;
      case pointKind.leave:
        this.#leave();
        return 0;
      case pointKind.branchOut:
        if (!this.#wraps) this.#leave();
        return 0;
      case pointKind.delegateOut:
        return this.#delegateOut(source, at);
      case pointKind.caughtLoop:
        this.#restoreDepth();
        this.#chargeLoop(fuel);
        return 0;
      case pointKind.bulk:
        this.#bulk();
        return 0;
      case pointKind.growMemory:
        return this.#growMemory(source, at);
      default:
        return this.#growTable(source, at);
    }
  }

  #enter(fuel: number): void {
    const { depth } = this.#locals;
    const out = this.#out;
    this.#out.indexed(op.globalGet, this.#globals.fuel);
    this.#out.i64(packed(fuel, -this.#frameUnits));
    out.byte(op.i64Sub);
    this.#put();
    if (this.#checks) {
      this.#get();
      out.bytes([op.i64Const, ...EXHAUSTED_LEB, op.i64And, op.i64Eqz, op.i32Eqz]);
      this.#trap();
    }
    if (!this.#catches) return;
    this.#get();
    this.#out.i64(DEPTH_MASK);
    out.byte(op.i64And);
    this.#out.indexed(op.localSet, depth);
  }

  /** @param fromLocal whether the local knows how much fuel is left; behind a call only the global does */
  #charge(fuel: number, fromLocal: boolean): void {
    if (fromLocal) this.#out.indexed(op.localGet, this.#locals.fuel);
    else this.#out.indexed(op.globalGet, this.#globals.fuel);
    this.#out.i64(packed(fuel, 0));
    this.#out.byte(op.i64Sub);
    this.#put();
  }

  /** An instruction that traps shows nothing: what the turns before it have used is shown here. */
  #chargeLoop(fuel: number): void {
    if (fuel > 0) {
      this.#charge(fuel, this.#cached);
      this.#save();
    }
    this.#trapIfEmpty();
  }

  #get(): void {
    if (this.#cached) this.#out.indexed(op.localGet, this.#locals.fuel);
    else this.#out.indexed(op.globalGet, this.#globals.fuel);
  }

  #put(): void {
    if (this.#cached) this.#out.indexed(op.localSet, this.#locals.fuel);
    else this.#out.indexed(op.globalSet, this.#globals.fuel);
  }

  #trapIfEmpty(): void {
    this.#get();
    this.#out.bytes([op.i64Const, 0, op.i64LessSigned]);
    this.#trap();
  }

  /** If the i32 on the stack is not 0. */
  #trap(): void {
    this.#out.bytes([op.if, blockType.empty]);
    this.#save();
    this.#out.bytes([op.unreachable, op.end]);
  }

  #load(): void {
    if (!this.#cached) return;
    this.#out.indexed(op.globalGet, this.#globals.fuel);
    this.#out.indexed(op.localSet, this.#locals.fuel);
  }

  /** The callee, the host, and whoever catches see only the global. */
  #save(): void {
    if (!this.#cached) return;
    this.#out.indexed(op.localGet, this.#locals.fuel);
    this.#out.indexed(op.globalSet, this.#globals.fuel);
  }

  /** Out of this activation: its frame is given back. */
  #leave(): void {
    if (!this.#cached && !this.#nests) return;
    this.#get();
    if (this.#frameUnits > 0) {
      this.#out.i64(this.#frameUnits);
      this.#out.byte(op.i64Sub);
    }
    this.#out.indexed(op.globalSet, this.#globals.fuel);
  }

  /** An exception has skipped the exits of those that it went through. */
  #restoreDepth(): void {
    this.#out.indexed(op.globalGet, this.#globals.fuel);
    this.#out.i64(-DEPTH_MASK - 1);
    this.#out.byte(op.i64And);
    this.#out.indexed(op.localGet, this.#locals.depth);
    this.#out.byte(op.i64Or);
    this.#out.indexed(op.globalSet, this.#globals.fuel);
  }

  /** Takes one fuel per byte or element before the work is done. The count is on top of the operands. */
  #bulk(): void {
    this.#out.indexed(op.localSet, this.#locals.count);
    this.#takeCount();
    this.#save();
    this.#trapIfEmpty();
    this.#out.indexed(op.localGet, this.#locals.count);
  }

  #takeCount(): void {
    this.#get();
    this.#out.indexed(op.localGet, this.#locals.count);
    this.#out.byte(op.i64ExtendUnsigned);
    this.#out.i64(DEPTH_BITS);
    this.#out.bytes([op.i64ShiftLeft, op.i64Sub]);
    this.#put();
  }

  /** JavaScriptCore takes the label of a `try` or of the function, and not that of the block around the body. */
  #delegateOut(source: Uint8Array, at: number): number {
    if (!this.#wraps) return 0;
    this.#out.indexed(op.delegate, new Reader(source, at + 1).u32() + 1);
    return immediateEnd(source, at + 1) - at;
  }

  #growMemory(source: Uint8Array, at: number): number {
    const { count } = this.#locals;
    const out = this.#out;
    const length = immediateEnd(source, at + 1) - at;
    // limit - size < wanted: the memory never has more pages than the limit.
    this.#out.indexed(op.localSet, count);
    this.#out.indexed(op.globalGet, this.#globals.pages);
    out.bytes([op.memorySize, 0, op.i32Sub]);
    this.#out.indexed(op.localGet, count);
    out.bytes([op.i32LessUnsigned, op.if, valueType.i32, op.i32Const, 0x7f, op.else]);
    this.#out.indexed(op.localGet, count);
    out.copy(source, at, at + length);
    out.byte(op.end);
    this.#settleGrowth();
    return length;
  }

  #growTable(source: Uint8Array, at: number): number {
    const length = immediateEnd(source, immediateEnd(source, at + 1)) - at;
    this.#out.indexed(op.localTee, this.#locals.count);
    this.#out.copy(source, at, at + length);
    this.#settleGrowth();
    return length;
  }

  /** The instruction's result is on the stack, and stays there. */
  #settleGrowth(): void {
    const { result } = this.#locals;
    const out = this.#out;
    this.#out.indexed(op.localTee, result);
    out.bytes([op.i32Const, 0x7f, op.i32Equal, op.if, blockType.empty, op.i32Const, 1]);
    this.#out.indexed(op.globalSet, this.#globals.refused);
    out.byte(op.else);
    this.#takeCount();
    this.#save();
    out.byte(op.end);
    this.#out.indexed(op.localGet, result);
  }
}

/** Behind the LEB128 at `at`. */
function immediateEnd(source: Uint8Array, at: number): number {
  let end = at;
  while (source[end]! >= 0x80) end++;
  return end + 1;
}
