// Random policies and calls, decided by Keyhole and by Cedar: `npm run fuzz:policy [pairs] [seed]`. Fails on the first disagreements.
import { compareWithCedar } from "./cedar.ts";

const [pairs = 1_000_000, seed = Date.now() % 2 ** 31] = process.argv.slice(2).map(Number);
const startMs = performance.now();
const { disagreements, decisions, pairs: done } = compareWithCedar(pairs, seed);
for (const disagreement of disagreements) process.stdout.write(`${disagreement}\n`);
process.stdout.write(
  `${done} pairs, seed ${seed}, ${JSON.stringify(decisions)}: ${disagreements.length} disagreements in ${((performance.now() - startMs) / 1_000).toFixed(0)} s\n`,
);
process.exitCode = disagreements.length > 0 ? 1 : 0;
