const [base, tMin, tMax, skew, damp, initialBias, initialPoint] = [36, 1, 26, 38, 700, 72, 128];
const largest = 0x10ffff;

/** Decodes a label behind `xn--` (RFC 3492, section 6.2); `undefined` for a malformed label. */
export function unicodeOf(encoded: string): string | undefined {
  const end = encoded.lastIndexOf("-");
  const points = Array.from(end > 0 ? encoded.slice(0, end) : "", (sign) => sign.charCodeAt(0));
  let [at, point, place, bias] = [end > 0 ? end + 1 : 0, initialPoint, 0, initialBias];
  while (at < encoded.length) {
    const before = place;
    for (let weight = 1, step = base; ; step += base) {
      const digit = digitOf(encoded.charCodeAt(at++));
      if (digit === undefined) return undefined;
      place += digit * weight;
      if (place > 0x7fffffff) return undefined;
      const threshold = Math.min(tMax, Math.max(tMin, step - bias));
      if (digit < threshold) break;
      weight *= base - threshold;
    }
    const count = points.length + 1;
    bias = adapted(place - before, count, before === 0);
    point += Math.floor(place / count);
    place %= count;
    if (point > largest || (point >= 0xd800 && point <= 0xdfff)) return undefined;
    points.splice(place++, 0, point);
  }
  return String.fromCodePoint(...points);
}

/** `undefined` for what is no digit, and for the end of the text. */
function digitOf(code: number): number | undefined {
  if (code >= 97 && code <= 122) return code - 97;
  return code >= 48 && code <= 57 ? code - 22 : undefined;
}

function adapted(delta: number, count: number, isFirst: boolean): number {
  let rest = Math.floor(delta / (isFirst ? damp : 2));
  rest += Math.floor(rest / count);
  let steps = 0;
  for (; rest > ((base - tMin) * tMax) >> 1; steps += base) rest = Math.floor(rest / (base - tMin));
  return steps + Math.floor(((base - tMin + 1) * rest) / (rest + skew));
}
