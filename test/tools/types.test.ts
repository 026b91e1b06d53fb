import { createKernel } from "@keyhole/kernel";
import { builtinTools, calculator, echo } from "@keyhole/worker-host/tools";
import { expect, expectTypeOf, it } from "vitest";

it("a package carries the types of its schemas to the caller", async () => {
  const kernel = await createKernel();
  for (const pkg of builtinTools) expect(kernel.register(pkg)).toMatchObject({ ok: true });

  const echoed = await kernel.call(echo, { message: "a" });
  if (echoed.ok) expectTypeOf(echoed.data.message).toEqualTypeOf<string>();
  const sum = await kernel.call(calculator, { expression: "1 + 1" });
  if (sum.ok) expectTypeOf(sum.data.value).toEqualTypeOf<number>();

  // @ts-expect-error -- `message` is a string.
  expect(await kernel.call(echo, { message: 1 })).toMatchObject({ ok: false });
  // @ts-expect-error -- `expression` is required.
  expect(await kernel.call(calculator, {})).toMatchObject({ ok: false });
});
