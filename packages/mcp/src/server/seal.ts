import { blake3Keyed, decodeBase64Url, encodeBase64Url } from "@keyhole/kernel";

const encoder = /* @__PURE__ */ new TextEncoder();
const KEY_BYTES = 32;

/** Vouches for texts that go through a client: keyed BLAKE3 over the text and what it is bound to. */
export class Seal {
  readonly #key: Uint8Array;

  /** @throws TypeError for a key of another length than 32 bytes */
  constructor(key: Uint8Array = crypto.getRandomValues(new Uint8Array(KEY_BYTES))) {
    if (key.length !== KEY_BYTES) throw new TypeError(`A key has ${KEY_BYTES} bytes; got ${key.length}.`);
    this.#key = key.slice();
  }

  /** Base64url, 43 characters. */
  of(text: string, binding: readonly string[]): string {
    return encodeBase64Url(this.#mac(text, binding));
  }

  isOf(seal: string, text: string, binding: readonly string[]): boolean {
    const given = decodeBase64Url(seal);
    const own = this.#mac(text, binding);
    if (given?.length !== own.length) return false;
    let difference = 0; // All bytes are looked at: the time tells nothing of the place of the first wrong one.
    for (let at = 0; at < own.length; at++) difference |= given[at]! ^ own[at]!;
    return difference === 0;
  }

  #mac(text: string, binding: readonly string[]): Uint8Array {
    return blake3Keyed(this.#key, encoder.encode(JSON.stringify([text, ...binding])));
  }
}
