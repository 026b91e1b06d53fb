import { multiMemory, readMemoryArgument, readNumeric, readVector } from "./immediates.ts";
import { mark, Marks } from "./marks.ts";
import { shape, shapes } from "./opcodes.ts";
import type { Reader } from "./reader.ts";
import { malformed, MeterRefusal } from "./refusal.ts";
import { blockType, heapType, hex, valueType } from "./types.ts";

/** What a scan found out about one function, besides its marks. */
export interface Flow {
  hasLoop: boolean;
  /** Also tail calls: whoever calls may recurse. */
  hasCall: boolean;
  /** Whether it catches exceptions: control then arrives from anywhere inside, and no local knows the fuel. */
  catches: boolean;
  /** It uses the scratch locals for counts of bulk operations and of growth. */
  counts: boolean;
  /** Whether the closing `end` can be reached. */
  endIsLive: boolean;
}

const kind = { body: 0, block: 1, loop: 2, if: 3, try: 4 } as const;

/** An open block, packed into a number: its kind, whether it was entered alive, whether a branch leads to its end. */
const LIVE = 8;
const TARGETED = 16;
/** An exception may land at its end, or in its next arm. */
const CAUGHT = 32;

/**
 * Splits one function's body into straight-line segments and notes what each costs. Wasmtime's count: one per instruction, none for `nop`, `drop`, `block`,
 * `loop`, `unreachable`, `return`, `else` and `end`, and one for the entry.
 */
export class Scanner {
  readonly marks: Marks = new Marks();
  readonly flow: Flow = { hasLoop: false, hasCall: false, catches: false, counts: false, endIsLive: false };
  readonly #globals: number;
  #open = new Uint8Array(64);
  #depth = 0;
  #live = true;
  #segment = 0;
  #fuel = 0;

  /** @param globals how many globals the original has */
  constructor(globals: number) {
    this.#globals = globals;
  }

  /** @param body behind the declarations of locals */
  scan(body: Reader): void {
    const { marks, flow } = this;
    marks.clear();
    Object.assign(flow, { hasLoop: false, hasCall: false, catches: false, counts: false, endIsLive: false });
    this.#depth = 0;
    this.#push(kind.body);
    this.#live = true;
    this.#segment = marks.add(body.at, mark.entry);
    this.#fuel = 1;
    while (this.#depth > 0) this.#instruction(body);
    if (!body.done) throw malformed("bytes behind the end of a function");
  }

  #instruction(body: Reader): void {
    const { at } = body;
    const opcode = body.byte();
    switch (shapes[opcode]) {
      case shape.plain:
        this.#fuel++;
        return;
      case shape.free:
        return;
      case shape.index:
        // Ours are behind the last of the original's: no index may reach them.
        if (body.u32() >= this.#globals && (opcode === 0x23 || opcode === 0x24)) throw malformed("an unknown global");
        this.#fuel++;
        return;
      case shape.memory:
        readMemoryArgument(body);
        this.#fuel++;
        return;
      case shape.signed32:
        body.skipLeb(5);
        this.#fuel++;
        return;
      case shape.signed64:
        body.skipLeb(10);
        this.#fuel++;
        return;
      case shape.float32:
        body.skip(4);
        this.#fuel++;
        return;
      case shape.float64:
        body.skip(8);
        this.#fuel++;
        return;
      case shape.heapType:
        heapType(body);
        this.#fuel++;
        return;
      case shape.selectTyped:
        for (let count = body.u32(); count > 0; count--) valueType(body);
        this.#fuel++;
        return;
      case shape.prefixNumeric:
        this.#fuel++;
        return this.#counted(at, readNumeric(body));
      case shape.prefixVector:
        this.#fuel++;
        return readVector(body);
      case shape.memoryGrow:
        if (body.u32() !== 0) throw multiMemory();
        this.#fuel++;
        return this.#counted(at, mark.growMemory);
      default:
        return this.#control(at, opcode, body);
    }
  }

  #control(at: number, opcode: number, body: Reader): void {
    switch (shapes[opcode]) {
      case shape.block:
        blockType(body);
        return this.#push(kind.block);
      case shape.loop:
        blockType(body);
        this.#push(kind.loop);
        this.flow.hasLoop = true;
        return this.#begin(body.at, mark.loop);
      case shape.if:
        blockType(body);
        this.#fuel++;
        this.#push(kind.if);
        return this.#begin(body.at, mark.charge);
      case shape.else:
        return this.#otherArm(body.at, mark.charge);
      case shape.end:
        return this.#end(body.at);
      case shape.branch:
        this.#target(body.u32(), at);
        this.#fuel++;
        return this.#leave();
      case shape.branchIf:
      case shape.branchOnNull:
        this.#target(body.u32(), at);
        this.#fuel++;
        return this.#begin(body.at, mark.charge);
      case shape.branchTable:
        for (let labels = body.u32(); labels >= 0; labels--) this.#target(body.u32(), at);
        this.#fuel++;
        return this.#leave();
      case shape.unreachable:
        this.#save(at, mark.leave);
        return this.#leave();
      case shape.return:
        this.#save(at, mark.leave);
        return this.#leave();
      case shape.call:
      case shape.callIndirect:
        body.u32();
        if (shapes[opcode] === shape.callIndirect) body.u32();
        this.#fuel++;
        return this.#call(at, body.at);
      case shape.tailCall:
      case shape.tailCallIndirect:
        body.u32();
        if (shapes[opcode] === shape.tailCallIndirect) body.u32();
        this.#fuel++;
        this.flow.hasCall = true;
        this.#save(at, mark.leave);
        return this.#leave();
      default:
        return this.#exceptional(at, opcode, body);
    }
  }

  #exceptional(at: number, opcode: number, body: Reader): void {
    switch (shapes[opcode]) {
      case shape.throw:
      case shape.throwRef:
        if (shapes[opcode] === shape.throw) body.u32();
        this.#fuel++;
        this.#save(at, mark.leave);
        return this.#leave();
      case shape.rethrow:
        body.u32();
        this.#fuel++;
        this.flow.catches = true;
        return this.#leave();
      case shape.try:
        blockType(body);
        this.#fuel++;
        this.flow.catches = true;
        return this.#push(kind.try);
      case shape.catch:
      case shape.catchAll:
        if (shapes[opcode] === shape.catch) body.u32();
        return this.#otherArm(body.at, mark.caught);
      case shape.delegate:
        body.u32();
        this.#open[this.#depth - 1]! |= TARGETED;
        return this.#end(body.at);
      case shape.tryTable:
        blockType(body);
        this.#fuel++;
        this.flow.catches = true;
        for (let clauses = body.u32(); clauses > 0; clauses--) {
          if (body.byte() < 2) body.u32();
          const label = body.u32();
          this.#target(label, at);
          this.#open[this.#depth - 1 - label]! |= CAUGHT;
        }
        return this.#push(kind.block);
      case shape.prefixGc:
        throw new MeterRefusal("UNSUPPORTED_GC", "The module uses instructions of garbage collection.");
      case shape.prefixThreads:
        throw new MeterRefusal("UNSUPPORTED_THREADS", "The module uses atomic instructions.");
      default:
        throw new MeterRefusal("UNSUPPORTED_FEATURE", `The instruction ${hex(opcode)} is unknown here.`);
    }
  }

  #push(what: number): void {
    if (this.#depth === this.#open.length) {
      const larger = new Uint8Array(this.#depth * 2);
      larger.set(this.#open);
      this.#open = larger;
    }
    this.#open[this.#depth++] = what | (this.#live ? LIVE : 0);
  }

  /** The segment ends here, with what it cost. */
  #close(): void {
    if (this.#live) this.marks.addFuel(this.#segment, this.#fuel);
    this.#fuel = 0;
  }

  /** Another segment, if control can come here. */
  #begin(at: number, what: number): void {
    this.#close();
    if (this.#live) this.#segment = this.marks.add(at, what);
  }

  /** Control does not go on behind this instruction. */
  #leave(): void {
    this.#close();
    this.#live = false;
  }

  /** A place where several ways meet. */
  #join(at: number, live: boolean, what: number): void {
    this.#close();
    this.#live = live;
    if (live) this.#segment = this.marks.add(at, what);
  }

  #otherArm(at: number, what: number): void {
    const top = this.#depth - 1;
    const block = this.#open[top]! | TARGETED;
    this.#open[top] = block;
    this.#join(at, (block & LIVE) !== 0, what);
  }

  #end(at: number): void {
    const block = this.#open[--this.#depth]!;
    const what = block & 7;
    if (what === kind.body) {
      this.flow.endIsLive = this.#live;
      this.#close();
    } else if (what === kind.if || what === kind.try || (what === kind.block && block & TARGETED)) {
      this.#join(at, (block & LIVE) !== 0, block & CAUGHT ? mark.caught : mark.charge);
    }
  }

  /** A branch to the function itself is a return. */
  #target(label: number, at: number): void {
    if (label >= this.#depth) throw malformed("an unknown label");
    if (label === this.#depth - 1) this.#save(at, mark.leave);
    this.#open[this.#depth - 1 - label]! |= TARGETED;
  }

  #save(at: number, what: number): void {
    if (!this.#live) return;
    const { marks } = this;
    // The labels of one `br_table` may all be the function.
    const last = marks.count - 1;
    if (last < 0 || marks.at(last) !== at || marks.kind(last) !== what) marks.add(at, what);
  }

  #call(at: number, behind: number): void {
    this.flow.hasCall = true;
    this.#save(at, mark.call);
    this.#begin(behind, mark.resume);
  }

  #counted(at: number, what: number | undefined): void {
    if (what === undefined) return;
    this.flow.counts = true;
    this.#save(at, what);
  }
}
