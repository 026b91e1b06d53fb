/** One condition in a process of its own: what a process has seen stays in its engine. Prints the rows as JSON. */
import { compiledByAjv } from "./ajv.ts";
import { type Condition, Contest } from "./contest.ts";
import { measure } from "./measure.ts";

const contest = new Contest(JSON.parse(process.argv[2] ?? "") as Condition, compiledByAjv);
const rows = await measure((...run) => {
  const start = performance.now();
  contest.run(...run);
  return performance.now() - start;
}, 2);
process.stdout.write(JSON.stringify(rows));
