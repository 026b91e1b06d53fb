import { malformed } from "./refusal.ts";

export const kind = { body: 0, block: 1, loop: 2, if: 3, try: 4 } as const;
const KIND = 7;
/** Was entered alive. */
const LIVE = 8;
/** A branch leads to its label. */
const TARGETED = 16;
/** An exception may land at its label, or in its next arm. */
const CAUGHT = 32;

/** The blocks that are open at one place of a function, the function itself outermost. Each is packed into a number. */
export class Blocks {
  #open = new Uint8Array(64);
  /** The metering points of the heads of loops that are alive. */
  #heads = new Int32Array(64);
  depth = 0;
  /** How many of them are `try`. */
  tries = 0;

  clear(): void {
    this.depth = 0;
    this.tries = 0;
  }

  push(what: number, live: boolean): void {
    if (this.depth === this.#open.length) {
      const [open, heads] = [new Uint8Array(this.depth * 2), new Int32Array(this.depth * 2)];
      open.set(this.#open);
      heads.set(this.#heads);
      [this.#open, this.#heads] = [open, heads];
    }
    if (what === kind.try) this.tries++;
    this.#open[this.depth++] = what | (live ? LIVE : 0);
  }

  pop(): BlockState {
    const block = new BlockState(this.#open[--this.depth]!);
    if (block.kind === kind.try) this.tries--;
    return block;
  }

  setHead(pointIndex: number): void {
    this.#heads[this.depth - 1] = pointIndex;
  }

  /** @returns whether it is the function's own label, where a branch is a return */
  target(label: number): boolean {
    this.#open[this.#at(label)]! |= TARGETED;
    return label === this.depth - 1;
  }

  /** An exception may land at a label. @returns the metering point of the loop's head where it does, if that is alive */
  land(label: number): number | undefined {
    const at = this.#at(label);
    const block = (this.#open[at]! |= CAUGHT);
    return (block & KIND) === kind.loop && block & LIVE ? this.#heads[at]! : undefined;
  }

  /** Another arm of the innermost block begins. @returns whether it is alive */
  nextArm(): boolean {
    return ((this.#open[this.depth - 1]! |= TARGETED) & LIVE) !== 0;
  }

  #at(label: number): number {
    if (label >= this.depth) throw malformed("an unknown label");
    return this.depth - 1 - label;
  }
}

export class BlockState {
  readonly #packed: number;

  constructor(packed: number) {
    this.#packed = packed;
  }

  get kind(): number {
    return this.#packed & KIND;
  }

  get live(): boolean {
    return (this.#packed & LIVE) !== 0;
  }

  get caught(): boolean {
    return (this.#packed & CAUGHT) !== 0;
  }

  /** Several ways meet at its end. */
  get joins(): boolean {
    const { kind: what } = this;
    return what === kind.if || what === kind.try || (what === kind.block && (this.#packed & TARGETED) !== 0);
  }
}
