/** Where a call's logical randomness comes from: a function in [0, 1) with 53 bits, the same sequence for the same seed everywhere. */
export type RandomSource = () => number;

/**
 * sfc32 (PractRand's small fast chaotic generator, 128 bits of state), fed with all 256 bits of the seed. Not for secrets.
 *
 * @param seed 64 hexadecimal characters
 */
export function seededRandom(seed: string): RandomSource {
  const words = Array.from({ length: 8 }, (_, i) => Number.parseInt(seed.slice(i * 8, i * 8 + 8), 16) | 0) as Words;
  let [a, b, c, counter] = words;

  const draw = (): number => {
    const sum = (a + b + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + sum) | 0;
    return sum >>> 0;
  };

  // The second half of the seed enters after the first is spread over the state; then every bit of both reaches every bit of it.
  for (let i = 0; i < 12; i++) draw();
  a ^= words[4];
  b ^= words[5];
  c ^= words[6];
  counter ^= words[7];
  for (let i = 0; i < 12; i++) draw();

  return () => ((draw() >>> 5) * 2 ** 26 + (draw() >>> 6)) / 2 ** 53;
}

type Words = [number, number, number, number, number, number, number, number];
