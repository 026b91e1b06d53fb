import type { JsonValue } from "../../json/json.ts";

/**
 * The arguments of a call, for as long as a store holds something of the call. They are JSON text in UTF-8, so that the counted bytes are the held
 * bytes: a value takes up to twenty times the memory of its text, and can be changed.
 */
export class HeldInput {
  readonly #text: Uint8Array;

  /** @param input of a call. The kernel refuses a call whose input is no JSON. */
  constructor(input: unknown) {
    this.#text = new TextEncoder().encode(textOf(input));
  }

  get bytes(): number {
    return this.#text.byteLength;
  }

  /** A copy of the arguments. */
  read(): JsonValue {
    return JSON.parse(new TextDecoder().decode(this.#text)) as JsonValue;
  }
}

function textOf(input: unknown): string {
  try {
    return JSON.stringify(input) ?? "null";
  } catch {
    return "null";
  }
}
