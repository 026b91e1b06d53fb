import { createKernel } from "@keyhole/kernel";
import { expect, it } from "vitest";
import { openPolicy, toolOf } from "../support/kernel.ts";

it("a failure that is kept for an idempotency key is small, however much the tool puts into it", async () => {
  const kernel = await createKernel({ policy: openPolicy });
  const output = { kind: "json", schema: { type: "object", additionalProperties: { type: "string" } } };
  const bounds = { outputBytes: 24_000_000 };
  kernel.register(toolOf(() => ({ ["k".repeat(12_000_000)]: 1 }), { output, bounds }));
  const call = (idempotencyKey: string) => kernel.call("subject", {}, { idempotencyKey });
  const first = await call("first");
  expect(first).toMatchObject({ ok: false, error: { code: "INVALID_OUTPUT" } });
  expect(JSON.stringify(first).length).toBeLessThan(10_000);
  for (const key of ["second", "third", "fourth"]) await call(key);
  expect(await call("first")).toMatchObject({ ok: false, error: { code: "INVALID_OUTPUT" }, meta: { cached: true } });
});
