/** The place where a text stops being JSON. */
export interface JsonStop {
  readonly at: number;
  /** The form that the text needs there. */
  readonly expected: string;
}

/** An open object with its names, or an open array, and the place of the value within it. */
interface Open {
  readonly names?: Set<string>;
  place: string | number;
}

const blanks = new Set([" ", "\t", "\n", "\r"]);
const piece = /[^"\\\u0000-\u001f]+|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
const scalar = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;

/**
 * Reads a JSON text (RFC 8259) step by step, once, without building its value: where each name and value stands. It stops at the first place that is
 * no JSON, so it also reads what a person still types. It takes exactly what `JSON.parse` takes.
 *
 * @example
 * const scan = new JsonScan(text);
 * while (scan.next()) if (scan.step === "name" && scan.isRepeated) console.warn(scan.path, scan.start);
 * if (scan.stop) console.error(scan.stop.at, scan.stop.expected);
 */
export class JsonScan {
  readonly #text: string;
  readonly #open: Open[] = [];
  #at = 0;

  /** The part that was read last: a member's name, a value without parts, or a bracket. */
  step: "start" | "name" | "scalar" | "open" | "close" = "start";
  /** Of that step. */
  start = 0;
  end = 0;
  /** Its object had the last name before. */
  isRepeated = false;
  /** Absent while the text goes on, and where it is whole. */
  stop: JsonStop | undefined;

  constructor(text: string) {
    this.#text = text;
  }

  /** To the value of this step, from the root. */
  get path(): readonly (string | number)[] {
    const places = this.#open.map(({ place }) => place);
    return this.step === "open" ? places.slice(0, -1) : places;
  }

  /** Whether there was one more step. */
  next(): boolean {
    const inner = this.#open.at(-1);
    const close = inner?.names ? "}" : "]";
    let sign = this.#skipSpace();
    if (inner && sign === close && this.step !== "name") {
      this.#open.pop();
      return this.#took("close", this.#at + 1);
    }
    if (this.step === "scalar" || this.step === "close") {
      if (!inner) return sign !== "" && this.#stopped("the end");
      if (sign !== ",") return this.#stopped(`a comma or ${close}`);
      this.#at++;
      sign = this.#skipSpace();
      if (typeof inner.place === "number") inner.place++;
    }
    const alternative = this.step === "open" ? ` or ${close}` : "";
    if (inner?.names && this.step !== "name") return this.#name(sign, inner, inner.names, alternative);
    return this.#value(sign, alternative);
  }

  #name(sign: string, inner: Open, names: Set<string>, alternative: string): boolean {
    if (sign !== '"') return this.#stopped(`a name in quotation marks${alternative}`);
    if (!this.#string("name")) return false;
    const { start, end } = this;
    const literal = this.#text.slice(start, end);
    const name = literal.includes("\\") ? String(JSON.parse(literal)) : literal.slice(1, -1);
    this.isRepeated = names.has(name);
    names.add(name);
    inner.place = name;
    if (this.#skipSpace() !== ":") return this.#stopped("a colon");
    this.#at++;
    this.start = start;
    return true;
  }

  #value(sign: string, alternative: string): boolean {
    if (sign === '"') return this.#string("scalar");
    if (sign === "{" || sign === "[") {
      this.#open.push(sign === "{" ? { names: new Set(), place: "" } : { place: 0 });
      return this.#took("open", this.#at + 1);
    }
    scalar.lastIndex = this.#at;
    if (!scalar.test(this.#text)) return this.#stopped(`a value${alternative}`);
    return this.#took("scalar", scalar.lastIndex);
  }

  #string(step: "name" | "scalar"): boolean {
    piece.lastIndex = ++this.#at;
    while (piece.test(this.#text)) this.#at = piece.lastIndex;
    const sign = this.#text.charAt(this.#at);
    if (sign === '"') return this.#took(step, this.#at + 1);
    if (sign === "") return this.#stopped("a closing quotation mark");
    return this.#stopped(sign === "\\" ? "an escape that JSON has" : "no control character in a string");
  }

  #skipSpace(): string {
    let sign = this.#text.charAt(this.#at);
    while (blanks.has(sign)) sign = this.#text.charAt(++this.#at);
    this.start = this.#at;
    return sign;
  }

  #took(step: JsonScan["step"], end: number): true {
    this.step = step;
    this.#at = this.end = end;
    return true;
  }

  #stopped(expected: string): false {
    this.stop = { at: this.#at, expected };
    return false;
  }
}
