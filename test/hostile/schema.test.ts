import { describe, expect, it } from "vitest";
import { compileSchema, DEFAULT_LIMITS } from "@keyhole/kernel/schema";
import { sized } from "../support/size.ts";
import { compiled, errors, nest, refused } from "../schema/compiled.ts";

describe("a hostile schema is refused, with a code", () => {
  it("that is too deep", () => {
    const { schemaDepth } = DEFAULT_LIMITS;
    expect(compileSchema(nest(schemaDepth - 1, "not", {})).ok).toBe(true);
    expect(refused(nest(schemaDepth, "not", {}))).toMatchObject({ code: "SCHEMA_TOO_DEEP" });
    expect(refused(nest(100_000, "not", {}))).toMatchObject({ code: "SCHEMA_TOO_DEEP" });
    expect(refused({ const: nest(100_000, "a", 1) })).toMatchObject({ code: "SCHEMA_TOO_DEEP" });
  });

  it("that is too large", () => {
    const limits = { schemaNodes: 10 };
    expect(compileSchema({ enum: Array.from({ length: 8 }, (_, n) => n) }, { limits }).ok).toBe(true);
    expect(refused({ enum: Array.from({ length: 9 }, (_, n) => n) }, { limits })).toMatchObject({
      code: "SCHEMA_TOO_LARGE",
    });
    const sparse: unknown[] = [];
    sparse.length = 4_000_000_000;
    expect(refused({ enum: sparse })).toMatchObject({ code: "SCHEMA_TOO_LARGE" });
  });

  it("that has too many subschemas", () => {
    const schema = (count: number) => ({ anyOf: Array.from({ length: count }, () => ({ type: "null" })) });
    expect(compileSchema(schema(9), { limits: { subschemas: 10 } }).ok).toBe(true);
    expect(refused(schema(10), { limits: { subschemas: 10 } })).toMatchObject({ code: "SCHEMA_TOO_LARGE" });
  });

  it("whose references lead in a circle at one value", () => {
    for (const schema of [
      { $ref: "#" },
      { $ref: "#/$defs/a", $defs: { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } } },
      { allOf: [{ anyOf: [{ not: { $ref: "#" } }] }] },
      { if: { $ref: "#" }, then: true },
      { dependentSchemas: { a: { $ref: "#" } } },
      { unevaluatedProperties: false, allOf: [{ $ref: "#" }] },
      { $dynamicAnchor: "x", $dynamicRef: "#x" },
      // The circle is closed from inside another one that goes into the value.
      {
        $ref: "#/$defs/m",
        $defs: { m: { properties: { a: { $ref: "#/$defs/t" } }, $ref: "#/$defs/t" }, t: { $ref: "#/$defs/m" } },
      },
    ]) {
      expect([schema, refused(schema).code]).toEqual([schema, "REF_CYCLE"]);
    }
    expect(compileSchema({ properties: { a: { $ref: "#" } }, items: { $ref: "#" }, contains: { $ref: "#" } }).ok).toBe(
      true,
    );
  });

  it("whose references form a chain without end", () => {
    const chain = (length: number) => ({
      $ref: "#/$defs/0",
      $defs: Object.fromEntries(
        Array.from({ length }, (_, n) => [n, n === length - 1 ? { type: "array" } : { $ref: `#/$defs/${n + 1}` }]),
      ),
    });
    expect(compiled(chain(500)).check([])).toBe(true);
    expect(compiled(chain(500)).check(1)).toBe(false);
    expect(refused(chain(10_000))).toMatchObject({ code: "SCHEMA_TOO_DEEP" });
  });

  it("that is no JSON", () => {
    const cyclic: Record<string, unknown> = {};
    cyclic["not"] = cyclic;
    expect(refused(cyclic)).toMatchObject({ code: "SCHEMA_TOO_DEEP" });
    expect(refused({ const: () => 1 })).toMatchObject({ code: "SCHEMA_NOT_JSON" });
    expect(refused({ enum: [1n] })).toMatchObject({ code: "SCHEMA_NOT_JSON" });
    expect(refused({ minimum: NaN })).toMatchObject({ code: "SCHEMA_NOT_JSON" });
    expect(
      refused({
        get type() {
          throw new Error("no");
        },
      }),
    ).toMatchObject({ code: "SCHEMA_NOT_JSON" });
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    expect(refused({ not: proxy })).toMatchObject({ code: "SCHEMA_NOT_JSON" });
  });

  it("is copied: it cannot be one schema for the compiler and another one later, and runs no code", () => {
    let reads = 0;
    const properties = {
      get a() {
        return ++reads === 1 ? { type: "string" } : {};
      },
    };
    expect(refused({ type: "object", properties })).toMatchObject({
      code: "SCHEMA_NOT_JSON",
      schemaPath: "/properties/a",
    });
    expect(reads).toBe(0);
    const schema: Record<string, unknown> = { type: "object" };
    const validator = compiled(schema);
    schema["type"] = "null";
    expect(validator.check({})).toBe(true);
    expect(validator.validate({}).ok).toBe(true);
  });

  it("cannot reach prototypes through names", () => {
    const schema = JSON.parse(
      '{"properties":{"__proto__":{"type":"number"},"constructor":{"type":"string"},"toString":{"type":"string"}},"required":["__proto__"]}',
    ) as unknown;
    const { check } = compiled(schema);
    expect(check({})).toBe(false);
    expect(check(JSON.parse('{"__proto__":1}'))).toBe(true);
    expect(check(JSON.parse('{"__proto__":"x"}'))).toBe(false);
    compiled(
      JSON.parse(
        '{"properties":{"a":{"default":{"__proto__":{"polluted":1}}},"__proto__":{"default":{"polluted":1}}}}',
      ),
    ).validate({});
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
    const filled = compiled(JSON.parse('{"properties":{"a":{"default":{"__proto__":1,"b":2}}}}')).validate({});
    expect(JSON.stringify(filled)).toBe('{"ok":true,"value":{"a":{"b":2}}}');
  });
});

describe("a hostile schema cannot take long", () => {
  /** A fraction of the default: the work ends at this number of steps, and the tests at a fraction of the time. */
  const limits = { steps: sized(100_000, 1_000_000) };

  it("has a default budget that a host can afford", () => {
    expect(DEFAULT_LIMITS.steps).toBeLessThanOrEqual(3_000_000);
  });

  it.each(["$anchor", "$dynamicAnchor"])("by thousands of references beside thousands of %s", (keyword) => {
    const $defs = Object.fromEntries(
      Array.from({ length: sized(6_000, 30_000) }, (_, n) => [n, { [keyword]: `a${n}` }]),
    );
    const allOf = Array.from({ length: sized(2_600, 13_000) }, () => ({ $ref: "#a0" }));
    expect(compileSchema({ $defs, allOf }).ok).toBe(true);
  });

  /** Each level applies the next one twice: 2^levels checks. */
  const doubling = (levels: number, apply: (ref: object) => object, leaf: object = { type: "string" }) => ({
    $ref: "#/$defs/0",
    $defs: Object.fromEntries(
      Array.from({ length: levels + 1 }, (_, n) => [n, n === levels ? leaf : apply({ $ref: `#/$defs/${n + 1}` })]),
    ),
  });

  it.each([
    ["anyOf", (ref: object) => ({ anyOf: [ref, ref] })],
    ["oneOf", (ref: object) => ({ oneOf: [ref, ref] })],
    ["allOf of not", (ref: object) => ({ allOf: [{ not: ref }, { not: { not: ref } }] })],
    ["if", (ref: object) => ({ if: ref, then: ref, else: ref })],
    ["unevaluatedProperties", (ref: object) => ({ anyOf: [ref, ref], unevaluatedProperties: ref })],
  ])("by fan-out through %s", (_name, apply) => {
    const schema = doubling(60, apply, { required: ["x"] });
    expect(compiled(schema, { limits }).check({ a: {} })).toBe(false);
    expect(errors(schema, { a: {} }, { limits })).toMatchObject([{ keyword: "limit" }]);
  });

  it("and says so", () => {
    const schema = doubling(60, (ref) => ({ anyOf: [ref, ref] }));
    expect(errors(schema, 1, { limits }).at(-1)).toMatchObject({ keyword: "limit" });
  });

  it("spends what it is given: at the limit a value passes, one step less and it does not", () => {
    const schema = { anyOf: [{ type: "string" }, { type: "null" }] };
    expect(compiled(schema, { limits: { steps: 2 } }).check(null)).toBe(true);
    expect(compiled(schema, { limits: { steps: 1 } }).check(null)).toBe(false);
  });

  it("by negating what was not decided", () => {
    const { $ref, $defs } = doubling(60, (ref) => ({ anyOf: [ref, ref] }));
    expect(compiled({ not: { $ref }, $defs }, { limits }).check(1)).toBe(false);
  });

  it("by a default that brings itself in again", () => {
    const schema = { type: "object", properties: { a: { $ref: "#", default: {} } } };
    expect(compiled(schema, { limits }).validate({})).toMatchObject({
      ok: false,
      errors: [{ keyword: "limit" }],
    });
  });

  it("by an error that is hard to explain", () => {
    // To decide takes some thousand steps; to explain, each of them again for every branch around it.
    const schema = doubling(25, (ref) => ({
      anyOf: [ref, { type: "object", required: ["a"], properties: { a: ref } }],
    }));
    const found = errors(schema, { a: { a: { a: 1 } } }, { limits });
    expect(found.length).toBeGreaterThan(0);
    expect(found.length).toBeLessThanOrEqual(DEFAULT_LIMITS.errors);
  });

  it("by holding a large value against many subschemas", () => {
    const many = (schema: object) => compiled({ allOf: Array.from({ length: 9_000 }, () => schema) }, { limits }).check;
    const length = limits.steps / 5;
    const items = Array.from({ length }, (_, n) => n);
    const members = Object.fromEntries(items.map((n) => [`k${n}`, n]));
    const text = "é".repeat(4 * limits.steps);
    expect(many({ items: { type: "integer" } })(items)).toBe(false);
    expect(many({ properties: { a: true, k1: { type: "integer" } } })(members)).toBe(false);
    expect(many({ maxLength: 3.9 * limits.steps, minLength: 3 })(text)).toBe(false);
    expect(many({ pattern: "^é*$" })(text)).toBe(false);
    const patternProperties = Object.fromEntries(items.slice(0, 9_000).map((n) => [`^k.*${n}$`, true]));
    const manyStates = { ...limits, totalPatternStates: 1_000_000 };
    const { check } = compiled({ patternProperties, additionalProperties: false }, { limits: manyStates });
    expect(check(members)).toBe(false);
    // The same values are no burden for one subschema.
    expect(compiled({ items: { type: "integer" } }, { limits }).check(items)).toBe(true);
    expect(compiled({ additionalProperties: { type: "integer" } }, { limits }).check(members)).toBe(true);
    expect(compiled({ pattern: "^é*$", maxLength: 4 * limits.steps }, { limits }).check(text)).toBe(true);
  });

  it("by a huge enum or a long array without equal items", () => {
    // The square of either length is more than the default budget of steps.
    const values = Array.from({ length: sized(10_000, 50_000) }, (_, n) => `v${n}`);
    const { check } = compiled({ items: { enum: values }, uniqueItems: true });
    expect(check(values)).toBe(true);
    const objects = Array.from({ length: sized(10_000, 100_000) }, (_, n) => ({ n, list: [n] }));
    const unique = compiled({ uniqueItems: true }).check;
    expect(unique(objects)).toBe(true);
    expect(unique([...objects, { list: [objects.length - 1], n: objects.length - 1 }])).toBe(false);
    expect(unique([...Array.from({ length: 20 }, (_, n) => n), true, "1", null, [1], { a: 1 }, false])).toBe(true);
  });
});
