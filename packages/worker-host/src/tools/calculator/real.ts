/**
 * Functions that ECMAScript leaves to each engine (`Math.exp`, `Math.sin`, `**`, …), whose last digit differs from one to the other. Here they are
 * computed in fixed point on integers of 256 bits and more, and rounded once to the nearest double: every engine gives the same, and the error is
 * at most half a unit in the last place, but for a part in 2^50.
 */

/** Bits behind the point. Doubles have 53, and the closest that one below 2^1024 comes to a multiple of π/2 costs 61 more. */
const precision = 256;
const one = 1n << BigInt(precision);

interface Binary {
  /** Odd, or 0. */
  readonly mantissa: bigint;
  readonly exponent: number;
}

/** A finite double as mantissa · 2^exponent, exactly. */
function binaryOf(value: number): Binary {
  if (value === 0) return { mantissa: 0n, exponent: 0 };
  const bits = new BigUint64Array(new Float64Array([value]).buffer)[0]!;
  const field = Number((bits >> 52n) & 0x7ffn);
  const fraction = bits & 0xfffffffffffffn;
  let mantissa = field === 0 ? fraction : fraction | (1n << 52n);
  let exponent = Math.max(field, 1) - 1075;
  while ((mantissa & 1n) === 0n) {
    mantissa >>= 1n;
    exponent++;
  }
  return { mantissa: value < 0 ? -mantissa : mantissa, exponent };
}

function shift(value: bigint, bits: number): bigint {
  return bits >= 0 ? value << BigInt(bits) : value >> BigInt(-bits);
}

/** With `precision` bits behind the point; what is smaller is cut. */
function fixedOf(value: number): bigint {
  const { mantissa, exponent } = binaryOf(value);
  return shift(mantissa, exponent + precision);
}

/** value · 2^exponent, rounded to nearest, ties to even. */
function doubleOf(value: bigint, exponent: number): number {
  const length = bitLength(value);
  // A double has 53 bits, and none below 2^-1074.
  const drop = Math.max(length - 53, -1074 - exponent, 0);
  if (drop > length) return 0;
  const scale = exponent + drop;
  if (scale > 1023) return value < 0n ? -Infinity : Infinity;
  const half = Math.trunc(scale / 2);
  return Number(rounded(value, BigInt(drop))) * twoTo(half) * twoTo(scale - half);
}

function rounded(value: bigint, drop: bigint): bigint {
  if (drop === 0n) return value;
  const magnitude = value < 0n ? -value : value;
  const kept = magnitude >> drop;
  const rest = 2n * (magnitude - (kept << drop));
  const unit = 1n << drop;
  const up = rest > unit || (rest === unit && (kept & 1n) === 1n);
  const result = up ? kept + 1n : kept;
  return value < 0n ? -result : result;
}

/** Exactly, for -1022 to 1023: from its bits, because engines differ in `**` too. */
function twoTo(exponent: number): number {
  return new Float64Array(new BigUint64Array([BigInt(exponent + 1023) << 52n]).buffer)[0]!;
}

function bitLength(value: bigint): number {
  return (value < 0n ? -value : value).toString(2).length;
}

/** Of two positive or negative integers, to the nearest. */
function divideRounded(value: bigint, by: bigint): bigint {
  const doubled = 2n * value + (value < 0n === by < 0n ? by : -by);
  return doubled / (2n * by);
}

/** atanh(1/n) or atan(1/n) with `bits` behind the point: the series from which logarithms and π are made. */
function inverseSeries(n: bigint, bits: number, sign: 1n | -1n): bigint {
  const square = n * n;
  let power = (1n << BigInt(bits)) / n;
  let sum = power;
  for (let k = 3n, s = sign; power !== 0n; k += 2n, s *= sign) {
    power /= square;
    sum += (s * power) / k;
  }
  return sum;
}

/** Bits beyond the result that sums of a few hundred cut terms can spoil. */
const guard = 32;

function withGuard(bits: number, compute: (bits: number) => bigint): bigint {
  return compute(bits + guard) >> BigInt(guard);
}

/** ln 2 = 18 atanh(1/26) − 2 atanh(1/4801) + 8 atanh(1/8749). */
const ln2 = withGuard(
  precision,
  (bits) =>
    18n * inverseSeries(26n, bits, 1n) - 2n * inverseSeries(4801n, bits, 1n) + 8n * inverseSeries(8749n, bits, 1n),
);

/** π = 16 atan(1/5) − 4 atan(1/239) (Machin 1706). */
function piWith(bits: number): bigint {
  return withGuard(bits, (more) => 16n * inverseSeries(5n, more, -1n) - 4n * inverseSeries(239n, more, -1n));
}

/** Natural logarithm of a positive double, with `precision` bits behind the point. */
function lnFixed(value: number): bigint {
  const { mantissa, exponent } = binaryOf(value);
  // value = m · 2^e with m in [1/√2, √2): the series of atanh((m − 1) / (m + 1)) then gains five bits a term.
  const length = bitLength(mantissa);
  let m = shift(mantissa, precision - length);
  let e = exponent + length;
  if (m * m < one * (one >> 1n)) {
    m <<= 1n;
    e--;
  }
  const z = ((m - one) << BigInt(precision)) / (m + one);
  const square = (z * z) >> BigInt(precision);
  let power = z;
  let sum = z;
  for (let k = 3n; power !== 0n && power !== -1n; k += 2n) {
    power = (power * square) >> BigInt(precision);
    sum += power / k;
  }
  return 2n * sum + BigInt(e) * ln2;
}

/** e^x, x with `precision` bits behind the point. */
function expOfFixed(x: bigint): number {
  const k = divideRounded(x, ln2);
  if (k > 1_100n) return Infinity;
  if (k < -1_200n) return 0;
  const rest = x - k * ln2;
  let term = one;
  let sum = one;
  for (let n = 1n; term !== 0n && term !== -1n; n++) {
    term = ((term * rest) >> BigInt(precision)) / n;
    sum += term;
  }
  return doubleOf(sum, Number(k) - precision);
}

export function exp(x: number): number {
  if (Math.abs(x) > 800) return x > 0 ? Infinity : 0;
  return expOfFixed(fixedOf(x));
}

/** Natural logarithm of a positive number. */
export function ln(x: number): number {
  return doubleOf(lnFixed(x), -precision);
}

/** Decimal logarithm of a positive number; exact for the powers of ten. */
export function log10(x: number): number {
  return doubleOf((lnFixed(x) << BigInt(precision)) / lnFixed(10), -precision);
}

/** The tool computes powers up to this one exactly, and rounds once. */
const exactPower = 1_100;

/** base^exponent for a positive base, or for any base but 0 and a whole exponent. */
export function power(base: number, exponent: number): number {
  if (Number.isInteger(exponent) && Math.abs(exponent) <= exactPower) return wholePower(base, exponent);
  const isOdd = Number.isInteger(exponent) && Math.abs(exponent) <= Number.MAX_SAFE_INTEGER && exponent % 2 !== 0;
  const magnitude = Math.abs(base);
  if (magnitude === 1) return isOdd ? base : 1;
  const { mantissa, exponent: scale } = binaryOf(exponent);
  const product = lnFixed(magnitude) * mantissa;
  // The sign decides an exponent far beyond any double's, before the shift to its full length.
  if (scale > 64) return product > 0n ? Infinity : 0;
  const result = expOfFixed(shift(product, scale));
  return base < 0 && isOdd ? -result : result;
}

function wholePower(base: number, exponent: number): number {
  const { mantissa, exponent: scale } = binaryOf(base);
  const count = Math.abs(exponent);
  const raised = mantissa ** BigInt(count);
  if (exponent >= 0) return doubleOf(raised, scale * count);
  const bits = bitLength(raised) + 128;
  // A quotient that does not come out even is never a tie: the mark says so.
  const dividend = 1n << BigInt(bits);
  const quotient = dividend / raised;
  return doubleOf(
    quotient * 2n + (quotient * raised === dividend ? 0n : raised < 0n ? -1n : 1n),
    -bits - 1 - scale * count,
  );
}

/** Sine and cosine with `precision` bits behind the point. The angle is reduced with as many digits of π as its size asks for. */
function sineAndCosine(x: number): readonly [sine: bigint, cosine: bigint] {
  const { mantissa, exponent } = binaryOf(x);
  const extra = Math.max(exponent + bitLength(mantissa), 0);
  const bits = precision + extra;
  const quarter = piWith(bits + 8) >> 9n;
  const angle = shift(mantissa, exponent + bits);
  const turns = divideRounded(angle, quarter);
  const rest = (angle - turns * quarter) >> BigInt(extra);
  const [sine, cosine] = seriesOf(rest);
  switch (Number(((turns % 4n) + 4n) % 4n)) {
    case 0:
      return [sine, cosine];
    case 1:
      return [cosine, -sine];
    case 2:
      return [-sine, -cosine];
    default:
      return [-cosine, sine];
  }
}

/** Taylor series for |x| ≤ π/4. */
function seriesOf(x: bigint): readonly [sine: bigint, cosine: bigint] {
  let sine = 0n;
  let cosine = 0n;
  let term = one;
  for (let n = 0n; term !== 0n && term !== -1n; n++) {
    const signed = n % 4n < 2n ? term : -term;
    if (n % 2n === 0n) cosine += signed;
    else sine += signed;
    term = ((term * x) >> BigInt(precision)) / (n + 1n);
  }
  return [sine, cosine];
}

/** Below this the next term of the series is far below half a unit in the last place. */
const tiny = 1e-9;

export function sin(x: number): number {
  return Math.abs(x) < tiny ? x : doubleOf(sineAndCosine(x)[0], -precision);
}

export function cos(x: number): number {
  return doubleOf(sineAndCosine(x)[1], -precision);
}

export function tan(x: number): number {
  if (Math.abs(x) < tiny) return x;
  const [sine, cosine] = sineAndCosine(x);
  return doubleOf((sine << BigInt(precision)) / cosine, -precision);
}
