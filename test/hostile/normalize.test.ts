import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { blake3Hash, canonicalize, normalize, parseJson, snapshot } from "../../packages/kernel/src/index.ts";

type Trap = keyof ProxyHandler<object>;
const traps: readonly Trap[] = [
  "get",
  "getOwnPropertyDescriptor",
  "getPrototypeOf",
  "has",
  "ownKeys",
  "set",
  "defineProperty",
  "deleteProperty",
  "preventExtensions",
  "setPrototypeOf",
];

/** Throws when it is inspected: `instanceof`, `in` and reading run into a trap. */
const poison: object = new Proxy(
  {},
  Object.fromEntries(
    traps.map((trap) => [
      trap,
      () => {
        throw poison;
      },
    ]),
  ),
);

/** Records what is done to a value, and to all values in it. */
function watched(value: object, log: string[]): object {
  return new Proxy(
    value,
    Object.fromEntries(
      traps.map((trap) => [
        trap,
        (target: object, key: unknown, ...rest: unknown[]) => {
          log.push(`${trap}${typeof key === "string" ? ` ${key}` : ""}`);
          return (Reflect[trap] as (...args: unknown[]) => unknown)(target, key, ...rest);
        },
      ]),
    ),
  );
}

/** Whether a trap runs at all: a snapshot gets no property, and canonical JSON asks an array only for its items. */
function runs(trap: Trap, take: typeof snapshot | typeof canonicalize, target: object): boolean {
  if (take === snapshot) return trap !== "get";
  return !Array.isArray(target) || trap === "get" || trap === "getPrototypeOf";
}

describe("a hostile value", () => {
  it("is read once, runs no getter, and is not written to", () => {
    const log: string[] = [];
    const value = watched({ a: 1, b: watched([1, 2], log), c: "x" }, log);
    expect(snapshot(value)).toEqual({ ok: true, value: { a: 1, b: [1, 2], c: "x" } });
    expect(log).toEqual([
      "getPrototypeOf",
      // Names, and symbols.
      "ownKeys",
      "ownKeys",
      ...["a", "b"].map((key) => `getOwnPropertyDescriptor ${key}`),
      "getPrototypeOf",
      "getOwnPropertyDescriptor length",
      "ownKeys",
      ...["0", "1"].map((key) => `getOwnPropertyDescriptor ${key}`),
      "getOwnPropertyDescriptor c",
    ]);
  });

  it("cannot be one thing when it is checked and another when it is used", () => {
    let reads = 0;
    const value = new Proxy(
      {},
      {
        ownKeys: () => ["path"],
        getOwnPropertyDescriptor: () => ({
          value: reads++ === 0 ? "/safe" : "/etc/passwd",
          enumerable: true,
          configurable: true,
        }),
      },
    );
    const result = snapshot(value);
    expect([result.ok && JSON.stringify(result.value), result.ok && JSON.stringify(result.value), reads]).toEqual([
      '{"path":"/safe"}',
      '{"path":"/safe"}',
      1,
    ]);
  });

  // Functions, because the test's title would inspect the values.
  const thrown = [new Error("no"), new RangeError("no"), undefined, null, "no", poison, { reason: "cycle" }].map(
    (error) => () => error,
  );
  const trapped = ["getOwnPropertyDescriptor", "getPrototypeOf", "ownKeys", "get"] as const;
  const cases = thrown.flatMap((error, index) =>
    trapped.flatMap((trap) => [{ a: 1 }, [1]].map((target) => ({ index, error, trap, target }))),
  );
  it.each(cases)("that throws anything ($index) from $trap is refused", ({ error, trap, target }) => {
    const value = new Proxy(target, {
      [trap]: () => {
        throw error();
      },
    });
    for (const take of [snapshot, canonicalize]) {
      const result = take([0, value]);
      expect(result.ok).toBe(!runs(trap, take, target));
      if (result.ok) continue;
      expect(result.error.reason).toMatch(/^(?:unreadable|too-deep)$/);
      expect(result.error.path).toMatch(/^\/1/);
    }
  });

  it("that breaks the rules of proxies is refused", () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    const handlers: ProxyHandler<object>[] = [
      { ownKeys: () => ["a", "a"] },
      { ownKeys: () => [1] as unknown as string[] },
      { getPrototypeOf: () => 1 as unknown as object },
    ];
    for (const value of [proxy, ...handlers.map((handler) => new Proxy({}, handler))]) {
      expect(snapshot(value)).toMatchObject({ ok: false, error: { reason: "unreadable", path: "" } });
      expect(canonicalize({ a: value })).toMatchObject({ ok: false, error: { reason: "unreadable", path: "/a" } });
    }
    expect(snapshot(new Proxy({}, { ownKeys: () => ["ghost"], getOwnPropertyDescriptor: () => undefined }))).toEqual({
      ok: true,
      value: {},
    });
  });

  it("cannot be an array of any length it likes", () => {
    const claiming = (length: unknown): unknown =>
      new Proxy([], {
        ownKeys: () => ["length"],
        getOwnPropertyDescriptor: (_, key) =>
          key === "length"
            ? { value: length, writable: true, enumerable: false, configurable: false }
            : { value: 1, writable: true, enumerable: true, configurable: true },
      });
    expect(snapshot(claiming(1e9))).toMatchObject({ ok: false, error: { reason: "too-large" } });
    expect(snapshot(claiming(Infinity))).toMatchObject({ ok: false, error: { reason: "too-large" } });
    expect(snapshot(claiming(100), { maxNodes: 50 })).toMatchObject({ ok: false, error: { reason: "too-large" } });
    for (const length of ["3", null, {}, 1n, -1])
      expect(snapshot(claiming(length))).toMatchObject({ ok: false, error: { reason: "not-plain" } });
    expect(snapshot(claiming(NaN))).toEqual({ ok: true, value: [] });
    expect(snapshot(claiming(3))).toEqual({ ok: true, value: [1, 1, 1] });
  });

  it("cannot multiply: a graph that is small here and huge as a tree ends at the limit", () => {
    let bomb: unknown = "lol";
    for (let i = 0; i < 60; i++) bomb = [bomb, bomb];
    expect(snapshot(bomb)).toMatchObject({ ok: false, error: { reason: "too-large" } });
    let objects: unknown = {};
    for (let i = 0; i < 60; i++) objects = { a: objects, b: objects };
    expect(snapshot(objects, { maxNodes: 10_000 })).toMatchObject({ ok: false, error: { reason: "too-large" } });
    const long = "x".repeat(1_000_000);
    expect(snapshot(Array.from({ length: 17 }, () => long))).toMatchObject({
      ok: false,
      error: { reason: "too-large", path: "/16" },
    });
  });

  it("cannot be endless: a proxy that makes children as it is asked ends at the depth", () => {
    const endless = (): object =>
      new Proxy(
        {},
        {
          ownKeys: () => ["next"],
          getOwnPropertyDescriptor: () => ({ value: endless(), enumerable: true, configurable: true }),
          get: endless,
        },
      );
    expect(snapshot(endless())).toMatchObject({ ok: false, error: { reason: "too-deep" } });
    expect(canonicalize(endless())).toMatchObject({ ok: false, error: { reason: "too-deep" } });
  });

  it("does not reach the prototypes", () => {
    const text = '{"__proto__": {"polluted": 1}, "constructor": {"prototype": {"polluted": 1}}}';
    expect(snapshot(JSON.parse(text))).toMatchObject({ ok: false, error: { reason: "proto-key" } });
    expect(parseJson(text)).toMatchObject({ ok: false, error: { reason: "proto-key" } });
    expect(parseJson('{"constructor": {"prototype": {"polluted": 1}}}').ok).toBe(true);
    expect("polluted" in {}).toBe(false);
  });

  it("of any kind gives a result or a refusal, never a throw, and is not changed", () => {
    const anything = fc.anything({
      withBigInt: true,
      withBoxedValues: true,
      withDate: true,
      withMap: true,
      withSet: true,
      withNullPrototype: true,
      withObjectString: true,
      withSparseArray: true,
      withTypedArray: true,
    });
    const property = fc.property(anything, fc.boolean(), (value, proxied) => {
      const before = fc.stringify(value);
      const foreign = proxied && typeof value === "object" && value !== null ? watched(value, []) : value;
      const copy = snapshot(foreign);
      const text = canonicalize(foreign);
      expect(fc.stringify(value)).toBe(before);
      if (copy.ok) expect(canonicalize(copy.value).ok).toBe(true);
      else expect(canonicalize(copy.error).ok).toBe(true);
      if (!text.ok) expect(canonicalize(text.error).ok).toBe(true);
      for (const kind of ["json", "text", "binary"] as const)
        expect(typeof normalize(kind, foreign, blake3Hash).ok).toBe("boolean");
    });
    fc.assert(property, { numRuns: 300 });
  });
});
