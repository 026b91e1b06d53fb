import { createKernel, type Mode } from "@keyhole/kernel";
import { normalizers } from "@keyhole/kernel/normalizers";
import { openPolicy, toolOf } from "../../support/kernel.ts";
import { hostOf, packed, returned } from "./hosts.ts";
import { comparable, openKernel, type Seam, seen } from "./seam.ts";

const asking = { version: "1", posture: "standard" } as const;
const files = { kind: "fs.read", paths: ["open/**"] } as const;

/** Of this realm, and called: no data. */
const code = Object.assign(Object.create({}) as object, toolOf(() => 1).code);

export const seams: readonly Seam[] = [
  {
    name: "the options of a kernel",
    first: { policy: asking, mode: "NORMAL", cache: true },
    second: { policy: openPolicy, mode: "LOCKDOWN", cache: false },
    ways: ["a proxy"],
    run: async (options) => {
      const kernel = await createKernel(options);
      kernel.registerTrusted(toolOf(() => 1, { tier: 2 }));
      const { ok, ...rest } = await kernel.call("subject", {});
      return comparable([ok, "error" in rest ? rest.error : rest.data, kernel.mode, kernel.policyHash === (await createKernel({ policy: asking })).policyHash]); // prettier-ignore
    },
  },
  {
    name: "whom an isolate may serve again",
    first: { reuse: { packed: "call" } },
    second: { reuse: { packed: "always" } },
    ways: ["a proxy"],
    run: async ({ reuse }: { readonly reuse: never }) => {
      let opened = 0;
      const host = hostOf(async () => returned(1));
      const kernel = await openKernel({ reuse, host: { ...host, open: (tool) => (opened++, host.open(tool)) } });
      kernel.register(packed({ determinism: "external" }));
      for (let i = 0; i < 3; i++) await kernel.call("packed", {}, { sessionId: "s" });
      return opened;
    },
  },
  {
    name: "the variables of a policy",
    first: { HOME: "open" },
    second: { HOME: "closed" },
    ways: ["a proxy"],
    run: async (policyVariables) => {
      const grants = [{ tool: "*", capability: { kind: "fs.read", paths: ["${HOME}/**"] } }];
      const policy = { ...openPolicy, grants };
      const kernel = await openKernel({ policy, policyVariables });
      const before = kernel.policyHash;
      return [before, await kernel.setPolicy(policy)];
    },
  },
  {
    name: "when the mode changes by itself",
    first: [{ on: "errors", codes: ["TOOL_ERROR"], count: 2, windowMs: 1_000, to: "ALERT" }],
    second: [{ on: "failure-rate", ratio: 1, minCalls: 1e9, windowMs: 1, to: "LOCKDOWN" }],
    ways: ["a proxy"],
    run: async (modeTriggers) => {
      const kernel = await openKernel({ modeTriggers });
      kernel.registerTrusted(toolOf(() => { throw new Error("no"); })); // prettier-ignore
      const modes: Mode[] = [];
      for (let i = 0; i < 3; i++) {
        await kernel.call("subject", {});
        modes.push(kernel.mode);
      }
      return modes;
    },
  },
  {
    name: "a policy that is set",
    first: { ...openPolicy, grants: [{ tool: "*", capability: files }] },
    second: { ...openPolicy, grants: [{ tool: "*", capability: { kind: "fs.read", paths: ["**"] } }] },
    ways: ["a proxy"],
    run: async (document) => (await openKernel()).setPolicy(document),
  },
  {
    name: "a revocation",
    first: { caller: "ada", kinds: ["fs.read"] },
    second: { caller: "eve", kinds: ["net.write"] },
    run: async (match) => {
      const kernel = await openKernel();
      await kernel.grants.revoke(match, "why");
      return seen(kernel, kernel.grants.list());
    },
  },
  {
    name: "a package",
    first: packed({ description: "first" }),
    second: packed({ description: "second", tier: 3 }),
    ways: ["a proxy"],
    run: async (pkg) => {
      const kernel = await openKernel({ host: hostOf(async () => returned(1)) });
      return seen(kernel, kernel.register(pkg));
    },
  },
  {
    name: "a package that is refused",
    first: { manifest: { name: "refused" }, code: "", hash: "none" },
    second: { manifest: { name: "other" }, code: "", hash: "none" },
    ways: ["a proxy"],
    run: async (pkg) => {
      const kernel = await openKernel();
      return seen(kernel, kernel.register(pkg), await kernel.call("refused", {}), await kernel.call("other", {}));
    },
  },
  {
    name: "a trusted tool",
    first: { definition: { ...toolOf(() => 1).definition }, code },
    second: { definition: { ...toolOf(() => 1, { tier: 4, name: "other" }).definition }, code },
    ways: ["a proxy"],
    run: async (tool) => {
      const kernel = await openKernel();
      return seen(kernel, kernel.registerTrusted(tool), await kernel.call("subject", {}));
    },
  },
  {
    name: "a proof that was signed",
    first: { signature: { alg: "EdDSA", kid: "first", value: "aa" } },
    second: { signature: { alg: "EdDSA", kid: "second", value: "bb" } },
    run: async (signed) => {
      const kernel = await openKernel({ signer: { sign: async () => signed } });
      kernel.registerTrusted(toolOf(() => 1));
      const { proof } = await kernel.call("subject", {});
      return comparable([structuredCloneOf(proof), structuredCloneOf(proof)]);
    },
  },
  {
    name: "what a normalizer makes",
    first: { a: [1] },
    second: { a: [2] },
    ways: ["a proxy"],
    run: async (made) => {
      let runs = 0;
      const normalize = (): unknown => (runs++ === 0 ? made : { a: [1] });
      const own = normalizers([{ name: "own", version: "1.0.0", normalize }]);
      const kernel = await openKernel({ normalizers: own });
      kernel.registerTrusted(toolOf(() => 1, { normalization: { custom: "own" } }));
      return seen(kernel, await kernel.call("subject", {}));
    },
  },
];

function structuredCloneOf(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value)) as unknown;
}
