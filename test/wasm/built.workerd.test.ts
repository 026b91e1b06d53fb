import { createKernel } from "@keyhole/kernel";
import { wasmHost } from "@keyhole/worker-host/wasm/modules";
import { expect, it } from "vitest";
import module from "keyhole:../../packages/playground/src/tools/primes/primes.wasm?metered";
import primes from "keyhole:../../packages/playground/src/tools/primes/primes.wasm";
import { openPolicy } from "../support/kernel.ts";
import { describeExample } from "./primes.shared.ts";

// A Worker compiles nothing from bytes: the module comes from the build, and is known by its mark.
describeExample(async () => wasmHost({ built: [module] }));

it("says of a module that was not built that it cannot be compiled", async () => {
  const kernel = await createKernel({ host: wasmHost(), policy: openPolicy });
  kernel.register(primes);
  expect(await kernel.call("primes", { limit: 100 })).toMatchObject({
    error: {
      code: "TOOL_ERROR",
      message: expect.stringContaining("The module of primes@1.0.0 does not compile here"),
    },
  });
  await kernel.close();
});
