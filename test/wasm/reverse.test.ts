import { createKernel } from "@keyhole/kernel";
import { nodeHost } from "@keyhole/worker-host/node";
import { expect, it } from "vitest";
import reverse from "keyhole:../../packages/worker-host/examples/reverse.wasm";
import { openPolicy } from "../support/kernel.ts";

it("the example in AssemblyScript turns a text around", async () => {
  const kernel = await createKernel({ host: nodeHost(), policy: openPolicy });
  expect(kernel.register(reverse)).toMatchObject({ ok: true });
  expect(await kernel.call("reverse", { text: "löst" })).toMatchObject({ ok: true, data: "tsöl" });
  await kernel.close();
});
