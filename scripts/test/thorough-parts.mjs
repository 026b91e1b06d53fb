/**
 * @typedef {{ tests: readonly string[] } | { command: readonly string[] } | { types: true }
 *   | { peers: readonly string[], packed?: true } | { npm: readonly string[] }} Step arguments for vitest, arguments for Node,
 *   the compiler, folders of test/peers with their packages (`packed`: and with the tarballs of ours), or scripts of package.json
 * @typedef {{ name: string, holds: string, run: Step }} Part
 */

/** Subjects with a part of their own. */
const apart = ["battery*", "chaos*", "chaos/**"].map((name) => `--exclude=test/hostile/${name}`);
const pages = ["test/e2e/", "test/vite/"];
const elsewhere = [...pages, "test/peers/"].map((path) => `--exclude=${path}**`);

/** @param {string} name @param {readonly string[]} without */
const engine = (name, without = apart) => ({ tests: [`--project=${name}`, ...without] });

/** The part `chaos-page` is of Chromium alone: the other browsers have their chaos here. */
const withChaos = apart.slice(0, 1);

/** @satisfies {readonly Part[]} The order is that of the time they take. */
export const parts = [
  { name: "types", holds: "the declarations of all installed packages, besides our own", run: { types: true } },
  {
    name: "node",
    holds: "all unit, contract and hostile tests in Node with thousands of rounds",
    run: { tests: ["--project=node", "--project=node-own", ...apart, ...elsewhere] },
  },
  {
    name: "peers",
    holds:
      "comparisons with Cedar, ajv, the MCP SDK, its conformance suite and published MCP servers, hash-wasm and real web servers",
    run: {
      peers: [
        "agents",
        "ajv",
        "cedar",
        "hash-wasm",
        "mcp",
        "mcp-clients",
        "mcp-conformance",
        "mcp-servers",
        "sandboxes",
        "servers",
      ],
    },
  },
  {
    name: "packages",
    holds: "the tarballs in programs of Vite, webpack, rollup, esbuild, Workers and Node 20, 22 and 24",
    run: { peers: ["bundlers", "node-versions"], packed: true },
  },
  { name: "pages", holds: "every page, in both themes, and every way to start and to end", run: { tests: pages } },
  { name: "chromium", holds: "every contract in full in Chromium", run: engine("chromium") },
  { name: "firefox", holds: "every contract in full in Firefox", run: engine("firefox", withChaos) },
  { name: "webkit", holds: "every contract in full in WebKitGTK", run: engine("webkit", withChaos) },
  { name: "workerd", holds: "every contract in full in workerd", run: engine("workerd") },
  {
    name: "battery",
    holds: "every attempt to leave an isolate, in every engine; writes docs/hostile-battery.md",
    run: { command: ["scripts/hostile.mjs"] },
  },
  { name: "chaos-node", holds: "1,000 rounds of kills and failures in Node", run: { npm: ["chaos:node"] } },
  { name: "chaos-page", holds: "1,000 rounds of kills and failures in Chromium", run: { npm: ["chaos:page"] } },
  {
    name: "fuzz",
    holds: "random policies against Cedar, schemas against ajv, and recorded runs against themselves",
    run: { npm: ["fuzz:policy", "fuzz:schema", "fuzz:replay"] },
  },
  {
    name: "loaded",
    holds: "npm test beside a busy loop on each core",
    run: { command: ["scripts/test-loaded.mjs"] },
  },
  {
    name: "mutants",
    holds: "faults put into the sources, each of which npm test has to find; writes test/mutants/results.md",
    run: { command: ["scripts/mutants.mjs"] },
  },
];
