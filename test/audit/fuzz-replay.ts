// Recorded runs of random tools, replayed: `npm run fuzz:replay [runs] [seed]`. Fails on the first runs that do not give the same bytes, or that ask anybody.
import { manyRuns } from "./random-runs.ts";

const [runs = 10_000, seed = Date.now() % 2 ** 31] = process.argv.slice(2).map(Number);
// Whatever asks the network behind the brokers' back is found as well.
let requests = 0;
globalThis.fetch = () => {
  requests++;
  return Promise.reject(new TypeError("there is no network"));
};
const startMs = performance.now();
const done = await manyRuns(runs, seed);
for (const fault of done.faults.slice(0, 10)) process.stdout.write(`${fault}\n`);
process.stdout.write(
  `${runs} runs from seed ${seed}, ${done.requests} requests and ${done.failed} failed calls, ${done.retried} further attempts and ${done.nested} calls from within recorded: ${done.faults.length} faults, ${requests} network requests, in ${((performance.now() - startMs) / 1_000).toFixed(0)} s\n`,
);
process.exitCode = done.faults.length > 0 || requests > 0 ? 1 : 0;
