// Random policies and calls, decided by Keyhole and by Cedar, then random chains of grants: `npm run fuzz:policy [pairs] [seed]`. Fails on the first
// disagreements, and on a child that has more than its parent.
import { checkChains } from "../../policy/chains.ts";
import { countsOf, disagreements, randomCases } from "../../policy/random-cases.ts";
import { cedarDecisions } from "./cedar.ts";

const [pairs = 1_000_000, seed = Date.now() % 2 ** 31] = process.argv.slice(2).map(Number);
const startMs = performance.now();
const batches = Math.ceil(pairs / 10_000);
const found: string[] = [];
const decisions: string[] = [];
for (let batch = 0; batch < batches && found.length === 0; batch++) {
  const cases = randomCases(seed + batch, 100, 100);
  const expected = cases.map(cedarDecisions);
  found.push(...disagreements(cases, (_, index) => expected[index]!));
  for (const each of expected) decisions.push(...each);
}
for (const disagreement of found) process.stdout.write(`${disagreement}\n`);
process.stdout.write(
  `${decisions.length} pairs, seed ${seed}, ${JSON.stringify(countsOf(decisions))}: ${found.length} disagreements in ${((performance.now() - startMs) / 1_000).toFixed(0)} s\n`,
);

const chains = 100_000;
const { counterexample, covered } = checkChains(chains, seed);
process.stdout.write(
  `${chains} chains of grants, ${covered} needs covered: ${counterexample ?? "no child has more than its parent"}\n`,
);
process.exitCode = found.length > 0 || counterexample !== undefined ? 1 : 0;
