import { describe, expect, it } from "vitest";
import { DEFAULT_LIMITS } from "@keyhole/kernel/schema";
import { compiled, nest } from "../schema/compiled.ts";

describe("a hostile value is refused, with a reason", () => {
  const { validate } = compiled(true);

  class Point {
    x = 1;
  }
  it.each<[reason: string, instancePath: string, value: () => unknown]>([
    ["undefined", "", () => undefined],
    ["undefined", "/0", () => [undefined]],
    ["not-finite", "", () => NaN],
    ["not-finite", "/0", () => [Infinity]],
    ["bigint", "/n", () => ({ n: 1n })],
    ["function", "", () => () => 1],
    ["symbol", "", () => Symbol("s")],
    ["not-plain", "/at", () => ({ at: new Date(0) })],
    ["not-plain", "", () => new Map()],
    ["not-plain", "", () => new Point()],
    ["not-plain", "", () => new Uint8Array(1)],
    ["undefined", "/1", () => [1, , 3]], // oxlint-disable-line no-sparse-arrays
    [
      "accessor",
      "/a",
      () => ({
        get a() {
          throw new Error("ran");
        },
      }),
    ],
    ["proto-key", "/b/__proto__", () => JSON.parse('{"b":{"__proto__":1}}')],
  ])("%s at %j", (reason, instancePath, value) => {
    expect(validate(value())).toMatchObject({
      ok: false,
      errors: [{ instancePath, received: `another value (${reason})`, keyword: "json" }],
    });
  });

  it("that throws when it is read", () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    expect(validate(proxy)).toMatchObject({ ok: false, errors: [{ keyword: "json" }] });
    expect(
      validate(
        new Proxy(
          {},
          {
            ownKeys: () => {
              throw new Error("no");
            },
          },
        ),
      ),
    ).toMatchObject({ ok: false, errors: [{ keyword: "json" }] });
  });

  it("that is too deep or too large", () => {
    const { valueDepth } = DEFAULT_LIMITS;
    expect(validate(nest(valueDepth, "a", 1))).toMatchObject({ ok: true });
    expect(validate(nest(valueDepth + 1, "a", 1))).toMatchObject({ ok: false, errors: [{ keyword: "limit" }] });
    const few = compiled(true, { limits: { valueNodes: 4 } }).validate;
    expect(few([1, 2, 3])).toMatchObject({ ok: true });
    expect(few([1, 2, 3, 4])).toMatchObject({ ok: false, errors: [{ keyword: "limit" }] });
    const cyclic: unknown[] = [];
    cyclic.push(cyclic);
    expect(validate(cyclic)).toMatchObject({ ok: false, errors: [{ keyword: "limit" }] });
    const sparse: unknown[] = [];
    sparse.length = 4_000_000_000;
    expect(validate(sparse)).toMatchObject({ ok: false });
  });

  it("that is deeper than check can follow is false, not a crash", () => {
    const { check } = compiled({ properties: { a: { $ref: "#" } } });
    expect(check(nest(500, "a", {}))).toBe(true);
    expect(check(nest(100_000, "a", {}))).toBe(false);
    expect(compiled({ uniqueItems: true }).check([nest(100_000, "a", 1), nest(100_000, "a", 1)])).toBe(false);
    expect(compiled({ uniqueItems: true }).check(Array.from({ length: 10 }, () => nest(100_000, "a", 1)))).toBe(false);
    expect(compiled({ const: { a: { a: 1 } } }).check(nest(100_000, "a", 1))).toBe(false);
    expect(compiled({ enum: [{}] }).check(nest(100_000, "a", 1))).toBe(false);
  });

  it("is copied: what was checked is what is used", () => {
    const input = { list: [{ a: 1 }] };
    const result = validate(input);
    input.list[0] = { a: 2 };
    expect(result).toEqual({ ok: true, value: { list: [{ a: 1 }] } });
  });

  it("of another realm's plain objects is data", () => {
    const value = Object.assign(Object.create(null) as object, { a: 1 });
    expect(validate(value)).toEqual({ ok: true, value: { a: 1 } });
  });
});
