import { Blocks, kind } from "./blocks.ts";
import { type Flow, noFlow } from "./flow.ts";
import { multiMemory, readMemoryArgument, readNumeric, readVector } from "./immediates.ts";
import { pointKind, MeteringPoints } from "./metering-points.ts";
import { shape, shapes } from "./opcodes.ts";
import type { Reader } from "./reader.ts";
import { malformed, MeterRefusal } from "./refusal.ts";
import { blockType, heapType, hex, valueType } from "./types.ts";

/**
 * Splits one function's body into straight-line segments and notes what each costs. Wasmtime's count: one per instruction, none for `nop`, `drop`, `block`,
 * `loop`, `unreachable`, `return`, `else` and `end`, and one for the entry.
 */
export class Scanner {
  readonly points: MeteringPoints = new MeteringPoints();
  readonly flow: Flow = { ...noFlow };
  readonly #globals: number;
  readonly #blocks = new Blocks();
  #live = true;
  #segment = 0;
  #fuel = 0;
  /** How deeply `try` nests in the function. */
  #tries = 0;

  /** @param globals how many globals the original has */
  constructor(globals: number) {
    this.#globals = globals;
  }

  /** @param body behind the declarations of locals */
  scan(body: Reader): void {
    const { points, flow } = this;
    points.clear();
    Object.assign(flow, noFlow);
    this.#live = true;
    this.#tries = 0;
    this.#blocks.clear();
    this.#push(kind.body);
    this.#segment = points.add(body.at, pointKind.entry);
    this.#fuel = 1;
    while (this.#blocks.depth > 0) this.#instruction(body);
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
        return this.#counted(at, pointKind.growMemory);
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
        this.#begin(body.at, pointKind.loop);
        return this.#blocks.setHead(this.#segment);
      case shape.if:
        blockType(body);
        this.#fuel++;
        this.#push(kind.if);
        return this.#begin(body.at, pointKind.charge);
      case shape.else:
        return this.#otherArm(body.at, pointKind.charge);
      case shape.end:
        return this.#end(body.at);
      case shape.branch:
        if (this.#blocks.target(body.u32())) this.#save(at, pointKind.branchOut);
        this.#fuel++;
        return this.#leave();
      case shape.branchIf:
      case shape.branchOnNull:
        this.#maybe(body.u32());
        this.#fuel++;
        return this.#begin(body.at, pointKind.charge);
      case shape.branchTable:
        for (let labels = body.u32(); labels >= 0; labels--) this.#maybe(body.u32());
        this.#fuel++;
        return this.#leave();
      case shape.unreachable:
      case shape.return:
        this.#save(at, pointKind.leave);
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
        this.#save(at, pointKind.leave);
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
        this.#save(at, pointKind.leave);
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
        this.#push(kind.try);
        // Each arm around this place keeps its exception for `rethrow`.
        if (this.#blocks.tries > this.#tries) this.flow.keeps++;
        this.#tries = Math.max(this.#tries, this.#blocks.tries);
        return;
      case shape.catch:
      case shape.catchAll:
        if (shapes[opcode] === shape.catch) body.u32();
        return this.#otherArm(body.at, pointKind.caught);
      case shape.delegate:
        // Its label counts from outside of the `try`.
        if (body.u32() === this.#blocks.depth - 2) this.points.add(at, pointKind.delegateOut);
        this.#blocks.nextArm();
        return this.#end(body.at);
      case shape.tryTable:
        blockType(body);
        this.#fuel++;
        this.flow.catches = true;
        for (let clauses = body.u32(); clauses > 0; clauses--) {
          const clause = body.byte();
          if (clause < 2) body.u32();
          // `catch_ref` and `catch_all_ref` leave the exception on the operand stack.
          if (clause & 1) this.flow.keeps++;
          this.#land(body.u32());
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
    this.#blocks.push(what, this.#live);
  }

  /** The segment ends here, with what it cost. */
  #close(): void {
    if (this.#live) this.points.addFuel(this.#segment, this.#fuel);
    this.#fuel = 0;
  }

  /** Another segment, if control can come here. */
  #begin(at: number, what: number): void {
    this.#close();
    if (this.#live) this.#segment = this.points.add(at, what);
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
    if (live) this.#segment = this.points.add(at, what);
  }

  #otherArm(at: number, what: number): void {
    this.#join(at, this.#blocks.nextArm(), what);
  }

  #end(at: number): void {
    const block = this.#blocks.pop();
    if (block.kind === kind.body) {
      this.flow.endIsLive = this.#live;
      this.flow.caughtAtEnd = block.caught;
      this.#close();
    } else if (block.joins) this.#join(at, block.live, block.caught ? pointKind.caught : pointKind.charge);
  }

  /** A branch that may not be taken. The frame is given back where it arrives: here it would be given back on both ways. */
  #maybe(label: number): void {
    if (this.#blocks.target(label) && this.#live) this.flow.branchesOut = true;
  }

  /** An exception may land at a label. */
  #land(label: number): void {
    this.#maybe(label);
    const head = this.#blocks.land(label);
    if (head !== undefined) this.points.change(head, pointKind.caughtLoop);
  }

  #save(at: number, what: number): void {
    if (this.#live) this.points.add(at, what);
  }

  #call(at: number, behind: number): void {
    this.flow.hasCall = true;
    this.#save(at, pointKind.call);
    this.#begin(behind, pointKind.resume);
  }

  #counted(at: number, what: number | undefined): void {
    if (what === undefined) return;
    this.flow.counts = true;
    this.#save(at, what);
  }
}
