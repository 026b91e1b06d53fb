// Random policies and calls, decided by Keyhole and by Cedar, then random chains of grants: `npm run fuzz:policy [pairs] [seed]`. Fails on the first
// disagreements, and on a child that has more than its parent.
import { compareWithCedar } from "./cedar.ts";
import { checkChains } from "./chains.ts";

const [pairs = 1_000_000, seed = Date.now() % 2 ** 31] = process.argv.slice(2).map(Number);
const startMs = performance.now();
const { disagreements, decisions, pairs: done } = compareWithCedar(pairs, seed);
for (const disagreement of disagreements) process.stdout.write(`${disagreement}\n`);
process.stdout.write(
  `${done} pairs, seed ${seed}, ${JSON.stringify(decisions)}: ${disagreements.length} disagreements in ${((performance.now() - startMs) / 1_000).toFixed(0)} s\n`,
);

const chains = 100_000;
const { counterexample, covered } = checkChains(chains, seed);
process.stdout.write(
  `${chains} chains of grants, ${covered} needs covered: ${counterexample ?? "no child has more than its parent"}\n`,
);
process.exitCode = disagreements.length > 0 || counterexample !== undefined ? 1 : 0;
