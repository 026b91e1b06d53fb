/**
 * JSON Schema against the code that ajv 8 generates: `npm run bench:schema`, or for one host
 * `npm run bench:schema -- -- node` (`chromium`, `workerd`).
 * Seven workloads, each condition in a process of its own. Prints each ratio (ours over ajv's, below one is faster) against
 * its bar, and never fails on a time.
 */
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { keyhole } from "../../../scripts/keyhole-plugin.mjs";
import { atMost } from "../../bench/bar.ts";
import { figuresOf } from "../../bench/figures.ts";
import { type Condition, conditions } from "./ratios/contest.ts";
import { ratiosInWorkerd } from "./ratios/in-workerd.ts";
import type { Row } from "./ratios/measure.ts";

type Host = "node" | "chromium" | "workerd";

/** The geometric mean of all ratios of a condition, and the worst of them. */
const bars = {
  node: { mean: 1.3, worst: 2.5 },
  chromium: { mean: 1.6, worst: 3.5 },
  workerd: { mean: 1.6, worst: 3.5 },
} as const satisfies Record<Host, { mean: number; worst: number }>;

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

function inNode(condition: Condition): readonly Row[] {
  const args = ["--conditions=keyhole-source", here("./ratios/in-node.ts"), JSON.stringify(condition)];
  return JSON.parse(execFileSync(process.execPath, args, { encoding: "utf8" })) as Row[];
}

async function inChromium(condition: Condition): Promise<readonly Row[]> {
  const html = (text: string): string =>
    text.replace("<!doctype html>", `<!doctype html><html data-condition='${JSON.stringify(condition)}'>`);
  const plugins = [keyhole(), { name: "condition", transformIndexHtml: html }];
  return (await figuresOf(here("./ratios/page"), { plugins })) as Row[];
}

const measured: Record<Host, (condition: Condition) => Promise<readonly Row[]> | readonly Row[]> = {
  node: inNode,
  chromium: inChromium,
  workerd: ratiosInWorkerd,
};

const geometricMean = (values: readonly number[]): number =>
  Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length);
const against = (value: number, bar: number): string => `${value.toFixed(2)} × ${atMost(value, bar)}`;

const wanted = process.argv.slice(2);
for (const host of ["node", "chromium", "workerd"] as const) {
  if (wanted.length > 0 && !wanted.includes(host)) continue;
  for (const condition of conditions) {
    const rows = await measured[host](condition);
    const ratios = rows.map(({ oursNs, theirsNs }) => oursNs / theirsNs);
    const worst = Math.max(...ratios);
    const of = rows[ratios.indexOf(worst)]!;
    const seen = `${condition.otherSets} other sets${condition.odd ? ", odd objects" : ""}`;
    console.log(`${host}, ${seen}: mean ${against(geometricMean(ratios), bars[host].mean)}`);
    console.log(`${host}, ${seen}: worst, ${of.name}, ${of.verdict}, ${against(worst, bars[host].worst)}`);
    for (const { name, verdict, oursNs, theirsNs } of rows)
      console.log(
        `  ${name.padEnd(25)}${verdict.padEnd(9)}${oursNs.toFixed(0).padStart(8)} ns ${theirsNs.toFixed(0).padStart(8)} ns ${(oursNs / theirsNs).toFixed(2).padStart(7)}`,
      );
  }
}
