import { pointerOf } from "@keyhole/kernel";

/** A value of a JSON text, and where it stands. */
export interface JsonPlace {
  /** RFC 6901. */
  readonly pointer: string;
  /** Of the member's name, or of the value where it has none. */
  readonly start: number;
  readonly end: number;
}

export interface JsonPlaces {
  /** Outer values before those within. */
  readonly places: readonly JsonPlace[];
  /** Where the text stops to be JSON. */
  readonly fault: { readonly at: number; readonly expected: string } | undefined;
}

/** A text of more values has no links. */
const mostPlaces = 5_000;
const mostDepth = 200;

/** Where each value of the text stands, as far as the text is JSON (RFC 8259). */
export function placesOf(text: string): JsonPlaces {
  const scanner = new Scanner(text);
  try {
    scanner.document();
    return { places: scanner.places, fault: undefined };
  } catch (error) {
    if (!(error instanceof Stop)) throw error;
    return {
      places: scanner.places,
      fault: error.expected === "" ? undefined : { at: scanner.at, expected: error.expected },
    };
  }
}

/** The innermost value at this offset of the text. */
export function pointerAt({ places }: JsonPlaces, offset: number): string {
  return places.findLast(({ start, end }) => start <= offset && offset <= end)?.pointer ?? "";
}

/** From 1. */
export function lineAt(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf("\n"); at !== -1 && at < offset; at = text.indexOf("\n", at + 1)) line++;
  return line;
}

class Stop extends Error {
  readonly expected: string;

  constructor(expected: string) {
    super(expected);
    this.expected = expected;
  }
}

const blank = /[ \t\n\r]*/y;
const scalar = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
const string = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;

class Scanner {
  readonly #text: string;
  readonly places: (JsonPlace & { end: number })[] = [];
  at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  document(): void {
    this.#take(blank);
    this.#value([], this.at);
    this.#take(blank);
    if (this.at < this.#text.length) throw new Stop("the end of the text");
  }

  #value(path: readonly (string | number)[], start: number): void {
    if (this.places.length >= mostPlaces || path.length > mostDepth) throw new Stop("");
    const place = { pointer: pointerOf(path), start, end: this.#text.length };
    this.places.push(place);
    const first = this.#text[this.at];
    if (first === "{") this.#members(path);
    else if (first === "[") this.#items(path);
    else if (first === '"') this.#string("a text that ends with a quotation mark");
    else if (this.#take(scalar) === "") throw new Stop("a value");
    place.end = this.at;
  }

  #members(path: readonly (string | number)[]): void {
    this.#each("}", () => {
      const start = this.at;
      const name: unknown = JSON.parse(this.#string("the name of a member, in quotation marks"));
      this.#sign(":", "a colon after the name");
      this.#value([...path, String(name)], start);
    });
  }

  #items(path: readonly (string | number)[]): void {
    let index = 0;
    this.#each("]", () => this.#value([...path, index++], this.at));
  }

  #each(close: string, one: () => void): void {
    this.at++;
    this.#take(blank);
    if (this.#text[this.at] === close) return void this.at++;
    for (;;) {
      one();
      this.#take(blank);
      const next = this.#text[this.at];
      if (next !== "," && next !== close) throw new Stop(`a comma or ${close}`);
      this.at++;
      if (next === close) return;
      this.#take(blank);
    }
  }

  #string(expected: string): string {
    const found = this.#take(string);
    if (found === "") throw new Stop(expected);
    return found;
  }

  #sign(sign: string, expected: string): void {
    this.#take(blank);
    if (this.#text[this.at] !== sign) throw new Stop(expected);
    this.at++;
    this.#take(blank);
  }

  #take(pattern: RegExp): string {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.#text)?.[0] ?? "";
    this.at += found.length;
    return found;
  }
}
