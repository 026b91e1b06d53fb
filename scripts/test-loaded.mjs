// Runs the quick suite while a busy loop occupies each core: a result that depends on the speed of the machine shows here.
// `npm run test:loaded -- 3` does it three times.
import { spawn } from "node:child_process";
import { availableParallelism } from "node:os";
import { runSuite } from "./test/suite.mjs";

const [times = "1", ...args] = process.argv.slice(2);
if (!/^[1-9]\d*$/.test(times)) throw new Error(`Got ${times}; expected the number of runs: npm run test:loaded -- 3`);

// Each ends with this process, whatever ends it: its pipe closes.
const loop =
  "process.stdin.on('end', () => process.exit()).resume(); (function spin() { const until = Date.now() + 200; while (Date.now() < until); setImmediate(spin); })();";
const loops = Array.from({ length: availableParallelism() }, () =>
  spawn(process.execPath, ["-e", loop], { stdio: ["pipe", "ignore", "inherit"] }),
);
console.log(`${loops.length} busy loops run beside the tests.`);
let passed = true;
for (let i = 0; i < Number(times) && passed; i++) passed = await runSuite(args, { types: args.length === 0 });
for (const child of loops) child.kill("SIGKILL");
process.exitCode = passed ? 0 : 1;
