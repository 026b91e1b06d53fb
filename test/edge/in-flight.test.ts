import { describe, expect, it } from "vitest";
import { InFlight } from "../../packages/edge/src/isolate/in-flight.ts";
import { settle } from "../support/fake-clock.ts";

function traffic(limit: number) {
  const inFlight = new InFlight(limit);
  const begun: string[] = [];
  const call = (id: string) => {
    const { promise, resolve } = Promise.withResolvers<string>();
    const result = inFlight.run(id, () => (begun.push(id), promise));
    return { result, end: () => resolve(id) };
  };
  return { inFlight, begun, call };
}

describe("isolates in flight", () => {
  it("share a slot among the calls of one isolate, and free it with the last of them", async () => {
    const { begun, call } = traffic(1);
    const [one, two, other] = [call("a"), call("a"), call("b")];
    await settle();
    expect(begun).toEqual(["a", "a"]);
    one.end();
    await settle();
    expect(begun).toEqual(["a", "a"]);
    two.end();
    await settle();
    expect(begun).toEqual(["a", "a", "b"]);
    other.end();
    expect(await Promise.all([one.result, two.result, other.result])).toEqual(["a", "a", "b"]);
  });

  it("wait in the order of arrival, all calls of one isolate together", async () => {
    const { begun, call } = traffic(1);
    const all = ["a", "b", "c", "b"].map((id) => call(id));
    for (const each of all) {
      await settle();
      each.end();
    }
    await Promise.all(all.map(({ result }) => result));
    expect(begun).toEqual(["a", "b", "b", "c"]);
  });

  it("free the slot of an isolate that was closed, whatever still runs in it", async () => {
    const { inFlight, begun, call } = traffic(1);
    const hangs = call("a");
    const next = call("b");
    await settle();
    inFlight.forget("a");
    await settle();
    expect(begun).toEqual(["a", "b"]);
    hangs.end(); // Its late end frees no second slot.
    const last = call("c");
    await settle();
    expect(begun).toEqual(["a", "b"]);
    next.end();
    last.end();
    expect(await last.result).toBe("c");
  });
});
