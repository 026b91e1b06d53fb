import { pointerOf } from "@keyhole/kernel";
import type { Position } from "@keyhole/kernel/policy";

/** The literal that a module of a configuration exports, as far as it is one. */
export interface LocatedLiteral {
  /** Where a JSON Pointer leads, as far as the literal goes with it. */
  readonly locate: (pointer: string) => Position;
  /** A key that stands twice in one object, which the language takes without a word. */
  readonly twice: { readonly key: string; readonly at: Position } | undefined;
}

/**
 * Finds the members of the object literal behind `export default`, through a call such as
 * `defineConfig({ … })`. It does not parse the language: a computed value has the place of the
 * member around it.
 */
export function locateLiteral(text: string): LocatedLiteral {
  const scan = new LiteralScan(text);
  const places = new Map<string, number>();
  const start = /\bexport\s+default\b/.exec(text)?.index ?? 0;
  const open = text.indexOf("{", start);
  if (open >= 0) scan.value(open, "", places);
  const at = (offset: number): Position => {
    const before = text.slice(0, offset);
    return { line: before.split("\n").length, column: offset - before.lastIndexOf("\n") };
  };
  return {
    twice: scan.twice && { key: scan.twice.key, at: at(scan.twice.offset) },
    locate(pointer) {
      for (let way = pointer; way !== ""; way = way.slice(0, way.lastIndexOf("/"))) {
        const offset = places.get(way);
        if (offset !== undefined) return at(offset);
      }
      return at(Math.max(open, 0));
    },
  };
}

class LiteralScan {
  readonly #text: string;
  twice: { readonly key: string; readonly offset: number } | undefined;

  constructor(text: string) {
    this.#text = text;
  }

  /** Notes the places of all members of the value at `from`. @returns the offset behind it */
  value(from: number, pointer: string, places: Map<string, number>): number {
    const at = this.#space(from);
    if (this.#text[at] === "{") return this.#members(at + 1, "}", pointer, places);
    if (this.#text[at] === "[") return this.#members(at + 1, "]", pointer, places);
    return this.#expression(at);
  }

  #members(from: number, close: string, pointer: string, places: Map<string, number>): number {
    const seen = new Set<string>();
    let at = this.#space(from);
    for (let index = 0; at < this.#text.length && this.#text[at] !== close; index++) {
      const start = at;
      const key = close === "}" ? this.#key(at) : { name: String(index), behind: at };
      const way = key && pointer + pointerOf([key.name]);
      if (key && close === "}") {
        if (seen.has(key.name)) this.twice ??= { key: key.name, offset: start };
        seen.add(key.name);
      }
      if (way !== undefined) places.set(way, start);
      at = this.#space(key && way !== undefined ? this.value(key.behind, way, places) : this.#expression(at));
      at = this.#space(this.#expression(at));
      if (this.#text[at] === ",") at = this.#space(at + 1);
      else if (this.#text[at] !== close) return this.#text.length;
    }
    return at + 1;
  }

  /** `name:`, `"name":` or `1:`. */
  #key(from: number): { readonly name: string; readonly behind: number } | undefined {
    const form = /(?:([A-Za-z_$][\w$]*|\d+)|"((?:[^"\\\n]|\\.)*)"|'((?:[^'\\\n]|\\.)*)')\s*:/y;
    form.lastIndex = from;
    const match = form.exec(this.#text);
    return match ? { name: match[1] ?? match[2] ?? match[3] ?? "", behind: form.lastIndex } : undefined;
  }

  /** Behind an expression: at the comma or bracket that ends it. */
  #expression(from: number): number {
    let depth = 0;
    let at = from;
    for (; at < this.#text.length; at++) {
      at = this.#space(at);
      const sign = this.#text[at] ?? "";
      if (`"'\``.includes(sign) && sign !== "") at = this.#string(at) - 1;
      else if ("([{".includes(sign) && sign !== "") depth++;
      else if (")]}".includes(sign) && sign !== "") {
        if (depth === 0) return at;
        depth--;
      } else if (sign === "," && depth === 0) return at;
    }
    return at;
  }

  #string(from: number): number {
    const quote = this.#text[from];
    let at = from + 1;
    while (at < this.#text.length && this.#text[at] !== quote) at += this.#text[at] === "\\" ? 2 : 1;
    return at + 1;
  }

  /** Behind white space and comments. */
  #space(from: number): number {
    const form = /(?:\s+|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*/y;
    form.lastIndex = from;
    return from + (form.exec(this.#text)?.[0].length ?? 0);
  }
}
