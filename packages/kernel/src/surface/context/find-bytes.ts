/** Bytes, however they are looked at. */
type Bytes = ArrayLike<number>;

/**
 * Where `wanted` stands in `content` first, at or after `from`; `undefined` where it does not. `wanted` is not empty. A stranger chooses it, so each byte of the content is read
 * once (Knuth, Morris and Pratt).
 */
export function placeOf(content: Bytes, wanted: Bytes, from: number): number | undefined {
  const fallbacks = fallbacksOf(wanted);
  let matched = 0;
  for (let at = from; at < content.length; at++) {
    matched = matchedWith(wanted, fallbacks, matched, content[at]);
    if (matched === wanted.length) return at + 1 - matched;
  }
  return undefined;
}

/** For each count of matched bytes the longest shorter beginning that they end with. */
function fallbacksOf(wanted: Bytes): Uint32Array {
  const fallbacks = new Uint32Array(wanted.length + 1);
  let matched = 0;
  for (let at = 1; at < wanted.length; at++) {
    matched = matchedWith(wanted, fallbacks, matched, wanted[at]);
    fallbacks[at + 1] = matched;
  }
  return fallbacks;
}

function matchedWith(wanted: Bytes, fallbacks: Uint32Array, before: number, byte: number | undefined): number {
  let matched = before;
  while (matched > 0 && wanted[matched] !== byte) matched = fallbacks[matched]!;
  return wanted[matched] === byte ? matched + 1 : 0;
}
