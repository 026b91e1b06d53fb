import { type CallResult, createKernel, type IsolateHost } from "@keyhole/kernel";
import { expect, it } from "vitest";
import primes from "keyhole:../../packages/playground/src/tools/primes/primes.wasm";
import { openPolicy } from "../support/kernel.ts";

async function count(host: IsolateHost, limit: number, fuel?: number): Promise<CallResult> {
  const kernel = await createKernel({ host, policy: openPolicy });
  expect(kernel.register(primes)).toMatchObject({ ok: true });
  const result = await kernel.call("primes", { limit }, fuel === undefined ? {} : { bounds: { fuel } });
  await kernel.close();
  await host.close();
  return result;
}

/** What `docs/wasm-tools.md` promises of the example. */
export function describeExample(makeHost: () => Promise<IsolateHost>): void {
  it.each([
    [100, { count: 25, last: 97 }, 12_667],
    [1_000_000, { count: 78_498, last: 999_983 }, 47_239_364],
  ])("the example in C counts the primes below %i for the same fuel", async (limit, data, fuelUsed) => {
    const result = await count(await makeHost(), limit);
    expect(result).toMatchObject({ ok: true, data, meta: { fuelUsed } });
  });

  it("the example in C is stopped at its bound", async () => {
    const error = { code: "OUT_OF_FUEL", details: { bound: "fuel", limit: 100_000_000 } };
    expect(await count(await makeHost(), 10_000_000)).toMatchObject({
      ok: false,
      error,
      meta: { fuelUsed: 100_000_000 },
    });
    const lower = await count(await makeHost(), 1_000_000, 1_000_000);
    expect(lower).toMatchObject({ ok: false, error: { code: "OUT_OF_FUEL", details: { limit: 1_000_000 } } });
  });
}
