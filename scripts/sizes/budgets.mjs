/**
 * What a user would import, and how large it may be: minified and gzipped, what is loaded at first. A change that exceeds `maxBytes` is refused, and one that
 * leaves more than 1 % of it unused lowers it; `goalBytes` is where a bundle has yet to come down to. `documents`: what a document loads; what a worker loads, or both, stands in `sources`.
 * `without`: modules that must not be part of it.
 *
 * @typedef {{ name: string, documents?: readonly string[], sources: readonly string[], maxBytes: number, goalBytes?: number, without?: readonly string[] }} Budget
 */

const composed = `export { composeKernel } from "@keyhole/kernel/compose"; export { sha256Hash } from "@keyhole/kernel/sha256";`;
const net = `export { netRead, netWrite } from "@keyhole/kernel/families";`;
const page = `export { connectKernel, serveFrameContainer } from "@keyhole/worker-host/browser";`;
const worker = `export { browserHost, exposeKernel, remoteFrameContainer } from "@keyhole/worker-host/browser";`;

/** @type {readonly Budget[]} */
export const budgets = [
  {
    name: "kernel, composed",
    sources: [composed],
    maxBytes: 72_320,
    goalBytes: 62 * 1024,
    without: [
      "kernel/src/hash/blake3",
      "kernel/src/schema/explain",
      "kernel/src/schema/formats",
      "kernel/src/schema/regex",
      "kernel/src/schema/compile-schema",
    ],
  },
  // The smallest kernel that grants a tool something.
  { name: "composed + net", sources: [composed + net], maxBytes: 78_656 },
  {
    name: "kernel, full",
    sources: [`export { createKernel } from "@keyhole/kernel";`],
    maxBytes: 121_600,
    goalBytes: 106 * 1024,
  },
  { name: "kernel, all exports", sources: [`export * from "@keyhole/kernel";`], maxBytes: 124_672 },
  {
    name: "kernel/schema",
    sources: [`export * from "@keyhole/kernel/schema";`],
    maxBytes: 16_832,
    goalBytes: 12 * 1024,
  },
  {
    name: "schema + explain",
    sources: [`export * from "@keyhole/kernel/schema"; export * from "@keyhole/kernel/schema/explain";`],
    maxBytes: 20_544,
    goalBytes: 15_104,
  },
  { name: "kernel/canonical", sources: [`export * from "@keyhole/kernel/canonical";`], maxBytes: 1_656 },
  { name: "page of a kernel", documents: [page], sources: [], maxBytes: 23_104 },
  {
    name: "first load",
    documents: [page],
    sources: [composed + worker],
    maxBytes: 116_608,
    without: [
      "src/wasm/",
      "kernel/src/schema/explain",
      "brokers/files",
      "brokers/kv",
      "brokers/spawn",
      "families/process-spawn",
      "matching/step-up",
      "worker-host/src/process/isolate",
    ],
  },
  {
    name: "first load, full",
    documents: [page],
    sources: [`export { createKernel } from "@keyhole/kernel";${worker}`],
    maxBytes: 157_440,
  },
];
