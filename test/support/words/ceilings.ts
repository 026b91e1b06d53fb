import type { Ceiling } from "./ceiling.ts";

/**
 * Texts that miss a bar: words, mean, longest, passive %, replaced words. The list can only shrink;
 * `npm run words -- --ceilings` lowers it to what stands.
 */
export const ceilings: ReadonlyMap<string, Ceiling> = new Map<string, Ceiling>([
  ["README.md", [1200, 12, 25, 10, 0]],
  ["docs/agents.md", [1500, 12, 25, 10, 0]],
  ["docs/architecture.md", [2500, 12, 25, 10, 0]],
  ["docs/audit.md", [2000, 12, 25, 11, 0]],
  ["docs/brokers.md", [1900, 12, 25, 10, 0]],
  ["docs/calls.md", [1800, 12, 25, 10, 0]],
  ["docs/command.md", [1100, 12, 25, 11, 1]],
  ["docs/dependencies.md", [1300, 12, 25, 10, 0]],
  ["docs/edge.md", [1200, 12, 25, 10, 0]],
  ["docs/http-api.md", [1900, 12, 25, 10, 0]],
  ["docs/mcp.md", [2400, 12, 25, 10, 0]],
  ["docs/policy.md", [3500, 12, 25, 10, 0]],
  ["docs/runtimes.md", [1000, 12, 25, 17, 0]],
  ["docs/testing.md", [1100, 12, 25, 10, 0]],
  ["docs/threat-model.md", [2200, 12, 25, 10, 3]],
  ["docs/tools.md", [2200, 12, 25, 10, 0]],
  ["docs/vocabulary.md", [1250, 12, 31, 10, 0]],
  ["docs/wasm-tools.md", [1900, 12, 25, 10, 0]],
  ["messages and hints", [1000, 12, 25, 17, 1]],
  ["docstrings of kernel", [1000, 12, 55, 20, 16]],
  ["docstrings of worker-host", [1000, 12, 58, 17, 14]],
  ["docstrings of agents", [1000, 12, 25, 10, 9]],
  ["docstrings of keyhole", [1000, 12, 32, 20, 10]],
  ["docstrings of mcp", [1000, 12, 30, 15, 11]],
  ["docstrings of edge", [1000, 12, 49, 19, 18]],
  ["docstrings of playground", [1000, 12, 28, 22, 15]],
]);
