import { toolTypes, type TypedTool } from "@keyhole/kernel/tool-types";
import { transform } from "esbuild";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sized } from "../support/size.ts";

const typesOf = (input: object, output: object = { kind: "text" }): string =>
  toolTypes([{ name: "subject", description: "", input, output } as TypedTool]);
const memberType = (schema: unknown): string =>
  /\{ m: (.*) \}\): Promise<string>;/.exec(typesOf({ properties: { m: schema }, required: ["m"] }))![1]!;

describe("the types of tools", () => {
  it.each<[unknown, string]>([
    [{ type: "string", pattern: "x" }, "string"],
    [{ type: "integer" }, "number"],
    [{ type: ["string", "null"] }, "(string | null)"],
    [{ enum: ["a", 1, null] }, '("a" | 1 | null)'],
    [{ const: true }, "true"],
    [{ type: "array", items: { type: ["string", "number"] } }, "(string | number)[]"],
    [{ type: "array", items: { enum: ["a"] } }, '"a"[]'],
    [{ type: "array" }, "unknown[]"],
    [{ type: "array", prefixItems: [{ type: "string" }], items: false }, "[string]"],
    [{ type: "object" }, "Record<string, unknown>"],
    [{ type: "object", additionalProperties: { type: "number" } }, "Record<string, number>"],
    [{ properties: { "a-b": { type: "null" } } }, '{ "a-b"?: null }'],
    [{ properties: { a: { type: "null" } }, additionalProperties: true }, "{ a?: null; [name: string]: unknown }"],
    [{ anyOf: [{ type: "string" }, { type: "null" }] }, "(string | null)"],
    [
      { allOf: [{ properties: { a: { type: "null" } } }, { properties: { b: true } }] },
      "({ a?: null } & { b?: unknown })",
    ],
    [{ $ref: "#/properties/m/$defs/x", $defs: { x: { type: "string" } } }, "string"],
    [{ $ref: "https://example.com/x" }, "unknown"],
    [{ $ref: "#/properties/m" }, "unknown"],
    [true, "unknown"],
    [false, "never"],
    [{}, "unknown"],
  ])("say %j as %s", (schema, expected) => {
    expect(memberType(schema)).toBe(expected);
  });

  it("name the result by the kind of the output", () => {
    const schema = { type: "object", properties: { sum: { type: "number" } }, required: ["sum"] };
    expect(typesOf({}, { kind: "json", schema })).toContain("Promise<{ sum: number }>");
    expect(typesOf({}, { kind: "json" })).toContain("Promise<unknown>");
    expect(typesOf({}, { kind: "binary" })).toContain("Promise<Uint8Array>");
    expect(typesOf({}, { kind: "text" })).toContain("input?: ");
  });

  it("have descriptions that end no comment", async () => {
    const description = "Ends */ here\nand there */";
    const text = toolTypes([
      { name: "a", description, input: { properties: { b: { description } } }, output: { kind: "text" } },
    ]);
    await expect(transform(text, { loader: "ts" })).resolves.toMatchObject({ warnings: [] });
    expect(text.match(/\*\//g)).toHaveLength(2);
  });

  it("are TypeScript, whatever a schema holds", async () => {
    const name = fc.oneof(
      fc.constantFrom("type", "properties", "$ref", "enum", "items", "anyOf", "required"),
      fc.string(),
    );
    const value = fc.letrec((tie) => ({
      any: fc.oneof(
        { depthSize: "small" },
        fc.constantFrom("object", "array", "string", "#/properties", true, false, null),
        fc.string(),
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        fc.array(tie("any"), { maxLength: 3 }),
        fc.dictionary(name, tie("any"), { maxKeys: 4 }),
      ),
    })).any;
    await fc.assert(
      fc.asyncProperty(fc.dictionary(name, value, { maxKeys: 5 }), async (schema) => {
        await transform(typesOf(schema as object), { loader: "ts" });
      }),
      { numRuns: sized(50, 2_000) },
    );
  });
});
