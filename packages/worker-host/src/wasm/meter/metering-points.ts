/** The action of the metered function at a metering point, which is a place of the original function. */
export const pointKind = {
  /** Begins a segment: takes its fuel. */
  charge: 0,
  /** A segment at a function's entry, which may be a recursion. */
  entry: 1,
  /** A segment at a loop's head. */
  loop: 2,
  /** A segment behind a call: the callee has changed the fuel. */
  resume: 3,
  /** A segment where an exception may have landed. */
  caught: 4,
  /** A callee takes over: it finds the fuel in its global. */
  call: 5,
  /** Control leaves the function, for good. */
  leave: 6,
  bulk: 7,
  growMemory: 8,
  growTable: 9,
  /** A branch to the function's own label, always taken. */
  branchOut: 10,
  /** A loop's head where an exception may have landed. */
  caughtLoop: 11,
  /** Exceptions of a block go to the caller. */
  delegateOut: 12,
} as const;

const WIDTH = 3;

/** The metering points of one function in the order of its bytes, reused from function to function. */
export class MeteringPoints {
  #data = new Int32Array(WIDTH * 256);
  count = 0;

  clear(): void {
    this.count = 0;
  }

  /** @returns its number, for {@link MeteringPoints.addFuel} */
  add(at: number, kind: number): number {
    const base = this.count * WIDTH;
    if (base === this.#data.length) {
      const larger = new Int32Array(this.#data.length * 2);
      larger.set(this.#data);
      this.#data = larger;
    }
    this.#data[base] = at;
    this.#data[base + 1] = kind;
    this.#data[base + 2] = 0;
    return this.count++;
  }

  addFuel(index: number, fuel: number): void {
    this.#data[index * WIDTH + 2]! += fuel;
  }

  change(index: number, kind: number): void {
    this.#data[index * WIDTH + 1] = kind;
  }

  at(index: number): number {
    return this.#data[index * WIDTH]!;
  }

  kind(index: number): number {
    return this.#data[index * WIDTH + 1]!;
  }

  fuel(index: number): number {
    return this.#data[index * WIDTH + 2]!;
  }
}
