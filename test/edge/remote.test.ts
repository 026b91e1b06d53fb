import { describe, expect, it, vi } from "vitest";
import { remote } from "../../packages/edge/src/isolate/remote.ts";

interface Far {
  give(what: string): Promise<unknown>;
}

/** Something to dispose, as RPC adds it: under a symbol, which no copy takes along. */
function disposable<Value extends object>(value: Value): { value: Value; disposed: ReturnType<typeof vi.fn> } {
  const disposed = vi.fn<() => void>();
  return { value: Object.assign(value, { [Symbol.dispose]: disposed }), disposed };
}

/** The far end as RPC makes it: each method gives a promise that holds resources itself. */
function stubOf(answer: () => Promise<unknown>): { far: Far; asked: readonly { disposed: unknown }[] } {
  const asked: { disposed: unknown }[] = [];
  const give = (): Promise<unknown> => {
    const { value, disposed } = disposable(answer());
    asked.push({ disposed });
    return value;
  };
  return { far: remote<Far>({ give }, ["give"]), asked };
}

describe("a result of RPC", () => {
  it("is disposed when its receiver has it, and its data stays", async () => {
    const { value, disposed } = disposable({ a: 1, nested: { b: 2 } });
    const { far, asked } = stubOf(async () => value);
    expect(await far.give("it")).toMatchObject({ a: 1, nested: { b: 2 } });
    expect(disposed).toHaveBeenCalledOnce();
    expect(asked[0]!.disposed).toHaveBeenCalledOnce();
  });

  it("that is a live reference itself is dead", async () => {
    const { value, disposed } = disposable(() => "a stub is a function");
    await stubOf(async () => value).far.give("it");
    expect(disposed).toHaveBeenCalledOnce();
  });

  it.each([undefined, null, 7, "text", {}, [], { [Symbol.dispose]: "no function" }])(
    "without anything to dispose is given on: %j",
    async (value) => {
      expect(await stubOf(async () => value).far.give("it")).toBe(value);
    },
  );

  it("that never came leaves nothing, and its reason is told", async () => {
    const { far, asked } = stubOf(() => Promise.reject(new Error("the way broke")));
    await expect(far.give("it")).rejects.toThrow("the way broke");
    expect(asked[0]!.disposed).toHaveBeenCalledOnce();
  });

  it("of a stub that throws at once is a rejection", async () => {
    const far = remote<Far>(
      {
        give() {
          throw new Error("it is disposed");
        },
      },
      ["give"],
    );
    await expect(far.give("it")).rejects.toThrow("it is disposed");
  });
});
