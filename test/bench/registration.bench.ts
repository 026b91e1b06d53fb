/**
 * Registering 100 packages beside what checking their digests and manifests costs: `npm run bench:registration`. First each in
 * processes of its own, then in turns in one. Prints and never fails on a time.
 */
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { blake3Hash, createKernel } from "@keyhole/kernel";
import { builtInFamilies } from "../../packages/kernel/src/capability/families/index.ts";
import { allParts } from "../../packages/kernel/src/schema/all-parts.ts";
import { checkManifest } from "../../packages/kernel/src/tool/check-manifest.ts";
import { takePackage } from "../../packages/kernel/src/tool/check-package.ts";
import { codeHashOf, manifestHash, packageHash } from "../../packages/kernel/src/tool/hash.ts";
import type { ToolManifest } from "../../packages/kernel/src/tool/manifest.ts";
import type { ToolPackage } from "../../packages/kernel/src/tool/package.ts";
import { atMost } from "./bar.ts";
import { byProcessor, processorMs } from "./processor.ts";
import { workloads } from "./schema-workloads.ts";

const TURNS = 41;
const COLD_TURNS = 5;
const BAR = 1;

const packages = Array.from({ length: 100 }, (_, index): ToolPackage => {
  const { $defs, ...schema } = workloads[index % workloads.length]!.schema as Readonly<Record<string, unknown>>;
  const properties = { index: { type: "integer", default: index }, value: schema };
  const manifest = {
    name: `tool_${index}`,
    version: "1.0.0",
    description: `What tool number ${index} does, in a sentence of the usual length.`,
    input: { type: "object", properties, ...($defs !== undefined && { $defs }) },
    output: { kind: "json", schema: { type: "object" } },
    effects: [],
    capabilities: [],
    determinism: "pure",
    tier: 0,
    bounds: {},
    source: "module",
  } as unknown as ToolManifest;
  const code = `export default { execute: () => ${index} };\n${"// The code of a tool.\n".repeat(200)}`;
  return { manifest, code, hash: packageHash(manifest, code, blake3Hash)! };
});

/** Milliseconds of processor time to register all in a new kernel. */
async function registration(): Promise<number> {
  const kernel = await createKernel();
  const start = processorMs();
  for (const each of packages) {
    const registered = kernel.register(each);
    if (!registered.ok) throw new Error(registered.error.message);
  }
  const elapsedMs = processorMs() - start;
  await kernel.close();
  return elapsedMs;
}

/** Milliseconds to look at their digests and manifests alone. */
function checks(): number {
  const families = builtInFamilies.with([], allParts);
  const start = processorMs();
  for (const each of packages) {
    const { parts } = takePackage(each);
    const manifest = parts.ok ? checkManifest(parts.value.manifest, families) : parts;
    if (!manifest.ok) throw new Error(manifest.error.message);
    const codeHash = codeHashOf(parts.ok ? (parts.value.code as string) : "", blake3Hash)!;
    if (manifestHash(manifest.value, codeHash, blake3Hash) !== each.hash) throw new Error("The digest differs.");
  }
  return processorMs() - start;
}

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1]!;

/** The first time in a process, as at the start of a program. */
function first(what: string): number {
  const args = ["--conditions=keyhole-source", fileURLToPath(import.meta.url), what];
  return Number(execFileSync(process.execPath, args, { encoding: "utf8" }));
}

function print(label: string, whole: readonly number[], alone: readonly number[]): void {
  const [ours, theirs] = [median(whole), median(alone)];
  const against = `${(ours / theirs).toFixed(2)} × ${atMost(ours / theirs, BAR)}`;
  console.log(
    `100 packages, ${label}: ${ours.toFixed(1)} ms ${byProcessor}, digests and manifests ${theirs.toFixed(1)} ms: ${against}`,
  );
}

const [what] = process.argv.slice(2);
if (what === undefined) {
  const cold = Array.from({ length: COLD_TURNS }, () => [first("whole"), first("checks")] as const);
  print(
    "first",
    cold.map(([whole]) => whole),
    cold.map(([, alone]) => alone),
  );
  const warm: (readonly [number, number])[] = [];
  for (let turn = 0; turn < TURNS; turn++) warm.push([await registration(), checks()]);
  const later = warm.slice(TURNS >> 2);
  print(
    "warm",
    later.map(([whole]) => whole),
    later.map(([, alone]) => alone),
  );
} else console.log(what === "whole" ? await registration() : checks());
