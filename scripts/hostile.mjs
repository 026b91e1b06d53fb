// Runs the hostile battery in every engine and writes docs/hostile-battery.md. Ends with 1 when something escaped, or when an
// engine is not here to try it in.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { platforms } from "../test/hostile/battery/attempt.ts";
import { groups } from "../test/hostile/battery/groups.ts";
import { renderBattery } from "../test/hostile/battery/render.ts";
import { engines } from "./engines.mjs";
import { root, run } from "./project.mjs";

const missing = engines.filter(({ isHere }) => !isHere());
if (missing.length > 0) {
  for (const { title, packages } of missing)
    console.log(`The battery runs in every engine, and ${title} is not here: apt-get install ${packages.join(" ")}`);
  process.exit(1);
}

const folder = mkdtempSync(join(tmpdir(), "keyhole-hostile-"));
const resultsPath = join(folder, "results.json");
const reporters = ["--reporter=./scripts/hostile-reporter.mjs", "--reporter=dot"];
const files = ["test/hostile/battery", "test/hostile/browser-frame"];
const { code } = await run("vitest", ["run", ...reporters, ...files], {
  env: { KEYHOLE_HOSTILE_RESULTS: resultsPath, KEYHOLE_THOROUGH: "1" },
});
/** @type {Record<string, Record<string, "held" | "ESCAPED">>} by project and id */
const results = JSON.parse(readFileSync(resultsPath, "utf8"));
rmSync(folder, { recursive: true, force: true });

const page = renderBattery(groups, (platform, { id }) => results[platform]?.[id] ?? "did not run");
writeFileSync(join(root, "docs", "hostile-battery.md"), page);
for (const platform of platforms) {
  const came = Object.values(results[platform] ?? {});
  const escaped = came.filter((each) => each === "ESCAPED").length;
  console.log(` ${platform.padEnd(9)} ${came.length} attempts, ${escaped} escapes`);
}
console.log(" written to docs/hostile-battery.md");
process.exitCode = code;
