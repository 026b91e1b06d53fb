import { blockType } from "./code-writer.ts";
import type { Reader } from "./reader.ts";
import type { FunctionType } from "./types.ts";
import { Writer } from "./writer.ts";

/** The types of blocks that give what a function gives. Several results need a type of the module: one that is there, or one behind the last. */
export class ExitTypes {
  readonly #types: readonly FunctionType[];
  /** By their results, of types without parameters. Made when it is first needed. */
  #known: Map<string, number> | undefined;
  readonly #added: Uint8Array[] = [];

  constructor(types: readonly FunctionType[]) {
    this.#types = types;
  }

  get added(): number {
    return this.#added.length;
  }

  blockType({ results, resultBytes }: FunctionType): ArrayLike<number> {
    if (results === 0) return [blockType.empty];
    if (results === 1) return resultBytes;
    const known = (this.#known ??= this.#withoutParameters());
    const key = resultBytes.join();
    let index = known.get(key);
    if (index === undefined) {
      index = this.#types.length + this.#added.length;
      const type = new Writer();
      type.bytes([0x60, 0]);
      type.u32(results);
      type.bytes(resultBytes);
      this.#added.push(type.written.slice());
      known.set(key, index);
    }
    const written = new Writer();
    // An index, and no value type, which would be negative.
    written.signed(index);
    return written.written;
  }

  #withoutParameters(): Map<string, number> {
    const known = new Map<string, number>();
    for (const [index, { parameters, resultBytes }] of this.#types.entries())
      if (parameters === 0) known.set(resultBytes.join(), index);
    return known;
  }

  addTo(section: Reader | undefined): Writer {
    const out = new Writer();
    out.u32((section?.u32() ?? 0) + this.#added.length);
    if (section) out.copy(section.bytes, section.at, section.end);
    for (const type of this.#added) out.bytes(type);
    return out;
  }
}
