import { Stopped, type Value } from "./values.ts";

const PAGE_BYTES = 65_536;

/** The one memory of a program, which traps outside of its bounds. */
export class Memory {
  bytes: Uint8Array<ArrayBuffer>;

  constructor(pages: number) {
    this.bytes = new Uint8Array(pages * PAGE_BYTES);
  }

  get pages(): number {
    return this.bytes.length / PAGE_BYTES;
  }

  grow(pages: number): void {
    const larger = new Uint8Array(this.bytes.length + pages * PAGE_BYTES);
    larger.set(this.bytes);
    this.bytes = larger;
  }

  load(at: number): number {
    this.#check(at, 4);
    return new DataView(this.bytes.buffer).getInt32(at, true);
  }

  store([address, value]: readonly Value[]): void {
    const at = Number(address) >>> 0;
    this.#check(at, 4);
    new DataView(this.bytes.buffer).setInt32(at, Number(value), true);
  }

  fill([address, value, size]: readonly Value[]): void {
    const [at, count] = [Number(address) >>> 0, Number(size) >>> 0];
    this.#check(at, count);
    this.bytes.fill(Number(value), at, at + count);
  }

  #check(at: number, count: number): void {
    if (at + count > this.bytes.length) throw new Stopped("trapped");
  }
}
