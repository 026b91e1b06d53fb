import { normalizers } from "@keyhole/kernel/normalizers";
import { openPolicy, toolOf } from "../../support/kernel.ts";
import { hostOf, packed, returned } from "./hosts.ts";
import { openKernel, type Seam, seen } from "./seam.ts";

const files = { kind: "fs.read", paths: ["open/**"] } as const;

/** Of this realm, and called: no data. */
const code = Object.assign(Object.create({}) as object, toolOf(() => 1).code);

export const seams: readonly Seam[] = [
  {
    name: "a policy that is set",
    first: { ...openPolicy, grants: [{ tool: "*", capability: files }] },
    second: { ...openPolicy, grants: [{ tool: "*", capability: { kind: "fs.read", paths: ["**"] } }] },
    ways: ["a proxy"],
    run: async (document) => (await openKernel()).setPolicy(document),
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
