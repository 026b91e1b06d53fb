import type { IsolateHost } from "@keyhole/kernel";
import { describe, expect, it } from "vitest";
import { sized } from "../support/size.ts";
import { expectedOf, toolOf, withToolShape } from "./model/as-tool.ts";
import { type Generator, generators } from "./model/recorded.ts";
import { callIn, type Ran } from "./run-body.ts";

const PAGES_BYTES = 4 * 65_536;
const ENOUGH = 1_000_000;

/** Random modules as tools: each host ends each call as the rules of docs/wasm-tools.md say. */
export function describeRandomTools(name: string, makeHost: () => Promise<IsolateHost>, count: number): void {
  describe(`random modules as tools: ${name}`, () => {
    // In full size it takes minutes: an isolate for each module.
    const timeout = sized(240_000, 1_500_000);
    it.each(Object.keys(generators) as Generator[])("end as the rules say: %s", { timeout }, async (generator) => {
      const host = await makeHost();
      let returned = 0;
      try {
        for (let seed = 0; seed < count; seed++) returned += await check(host, generator, seed);
      } finally {
        await host.close();
      }
      expect(returned).toBeGreaterThan(count / 4);
    });
  });
}

/** @returns 1 if the module returns, and so has an exact fuel */
async function check(host: IsolateHost, generator: Generator, seed: number): Promise<number> {
  const program = withToolShape(generators[generator](seed));
  const rule = expectedOf(program, 2);
  if (rule.kind === "out-of-fuel") return 0;
  const isolate = await host.open(toolOf(program));
  const call = (fuel: number): Promise<Ran> => callIn(isolate, { inputText: "2", fuel, memoryBytes: PAGES_BYTES });
  try {
    const { outcome, usage } = await call(ENOUGH);
    if (rule.kind !== "returned") {
      // A trap, or an exception that nobody catches; where growth was refused before, that is the reason.
      expect([seed, outcome.kind]).toEqual([seed, expect.stringMatching(/^threw$|^out-of-memory$/)]);
      return 0;
    }
    const output = { form: "json", text: rule.text };
    const used = { fuelUsed: rule.fuel, peakMemoryBytes: rule.memoryBytes };
    expect([seed, outcome, usage]).toEqual([seed, { kind: "returned", output }, used]);
    expect([seed, (await call(rule.fuel)).outcome.kind]).toEqual([seed, "returned"]);
    expect([seed, (await call(rule.fuel - 1)).outcome.kind]).toEqual([seed, "out-of-fuel"]);
    return 1;
  } finally {
    isolate.terminate("the test is over");
  }
}
