import { compiledByAjv } from "../ajv.ts";
import { type Condition, Contest } from "../contest.ts";
import { measure } from "../measure.ts";

const condition = JSON.parse(document.documentElement.dataset["condition"] ?? "") as Condition;
const contest = new Contest(condition, compiledByAjv);
(globalThis as { figures?: unknown }).figures = await measure((...run) => {
  const start = performance.now();
  contest.run(...run);
  return performance.now() - start;
}, 10);
