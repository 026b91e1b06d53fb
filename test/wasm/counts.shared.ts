import { describe, expect, it } from "vitest";
import { instantiate } from "./metered.ts";
import { programs } from "./programs.ts";

/** The same numbers on every engine. */
describe.each(programs)("the fuel of $name", ({ bytes, argument, value, fuel, leftOfHalf }) => {
  it("is what wasmtime counts", () => {
    const { exports, run } = instantiate(bytes);
    expect(run(() => exports["run"]!(argument))).toMatchObject({ value, trapped: false, used: fuel });
  });

  it("is exactly enough, and one less is not", () => {
    const { exports, run } = instantiate(bytes);
    const enough = run(() => exports["run"]!(argument), fuel);
    expect([enough.trapped, enough.fuelState.state]).toEqual([false, "running"]);
    // Where the last segment has no check behind it the call returns, and the fuel global says what the host has to know.
    expect(run(() => exports["run"]!(argument), fuel - 1).fuelState.state).toBe("out-of-fuel");
  });

  it("ends the run in the same place", () => {
    const { exports, run } = instantiate(bytes);
    const half = run(() => exports["run"]!(argument), Math.floor(fuel / 2));
    expect(half).toMatchObject({ trapped: true, fuelState: { state: "out-of-fuel", fuel: leftOfHalf } });
  });
});
