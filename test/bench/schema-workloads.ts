import { nested } from "./schema-nested-workload.ts";
import { changed, type Workload } from "./schema-workload.ts";

const flatValue = {
  id: 4711,
  name: "Ada Lovelace",
  active: true,
  age: 36,
  role: "admin",
  score: 99.5,
  city: "London",
  note: null,
};
const flat: Workload = {
  name: "flat",
  schema: {
    type: "object",
    properties: {
      id: { type: "integer", minimum: 1 },
      name: { type: "string", minLength: 1, maxLength: 100 },
      active: { type: "boolean" },
      age: { type: "integer", minimum: 0, maximum: 150 },
      role: { enum: ["admin", "user", "guest"] },
      score: { type: "number" },
      city: { type: "string" },
      note: { type: ["string", "null"] },
    },
    required: ["id", "name", "role"],
    additionalProperties: false,
  },
  valid: [
    flatValue,
    { id: 1, name: "x", role: "user" },
    changed(flatValue, ["note"], "a longer note about this person"),
  ],
  invalid: [
    changed(flatValue, ["age"], 200),
    changed(flatValue, ["name"], undefined),
    changed(flatValue, ["extra"], 1),
    changed(flatValue, ["role"], "root"),
  ],
};

const shapes = ["circle", "square", "rectangle", "triangle", "line", "point"];
const numbersOf = ["r", "side", "width", "base", "length", "x"];
const oneOf: Workload = {
  name: "oneOf with discriminator",
  schema: {
    oneOf: shapes.map((kind, index) => ({
      type: "object",
      properties: {
        kind: { const: kind },
        [numbersOf[index] as string]: { type: "number", minimum: 0 },
        label: { type: "string" },
      },
      required: ["kind", numbersOf[index] as string],
      additionalProperties: false,
    })),
  },
  valid: shapes.map((kind, index) => ({ kind, [numbersOf[index] as string]: index + 0.5, label: "shape" })),
  invalid: [...shapes.map((kind) => ({ kind, wrong: 1 })), { kind: "star", points: 5 }, { r: 4 }],
};

const formatsValue = {
  id: "123e4567-e89b-12d3-a456-426614174000",
  created: "2026-01-31T09:30:00.123Z",
  day: "2024-02-29",
  email: "joe.bloggs@example.com",
  site: "https://example.com/a/path?with=query&and=more#fragment",
  ip: "192.168.13.254",
  host: "www.example.com",
};
const formats: Workload = {
  name: "formats",
  schema: {
    type: "object",
    properties: {
      id: { type: "string", format: "uuid" },
      created: { type: "string", format: "date-time" },
      day: { type: "string", format: "date" },
      email: { type: "string", format: "email" },
      site: { type: "string", format: "uri" },
      ip: { type: "string", format: "ipv4" },
      host: { type: "string", format: "hostname" },
    },
    required: ["id", "created"],
  },
  valid: [formatsValue, changed(formatsValue, ["created"], "1985-04-12T23:20:50+01:00")],
  invalid: [
    changed(formatsValue, ["ip"], "192.168.13.256"),
    changed(formatsValue, ["day"], "2023-02-29"),
    changed(formatsValue, ["email"], "joe@@example.com"),
    changed(formatsValue, ["host"], "-a.example"),
  ],
};

const rows = Array.from({ length: 1_000 }, (_, n) => ({ id: n, name: `row ${n}`, value: n / 3, ok: n % 2 === 0 }));
const array: Workload = {
  name: "array of 1000",
  schema: {
    type: "array",
    items: {
      type: "object",
      properties: {
        id: { type: "integer", minimum: 0 },
        name: { type: "string", maxLength: 50 },
        value: { type: "number" },
        ok: { type: "boolean" },
      },
      required: ["id", "name"],
      additionalProperties: false,
    },
    maxItems: 10_000,
  },
  valid: [rows],
  invalid: [changed(rows, [990, "id"], -1), changed(rows, [500, "name"], 5), changed(rows, [999, "name"], undefined)],
};

const patternsValue = {
  slug: "a-fine-slug-2026",
  version: "12.4.1-beta",
  color: "#a0B1c2",
  phone: "+49 30 1234567",
  "x-trace": "abc",
  "x-span": "def",
  key: "AKIA1234567890ABCDEF",
};
const patterns: Workload = {
  name: "patterns",
  schema: {
    type: "object",
    properties: {
      slug: { type: "string", pattern: "^[a-z0-9]+(?:-[a-z0-9]+)*$" },
      version: { type: "string", pattern: "^\\d+\\.\\d+\\.\\d+(?:-[a-z]+)?$" },
      color: { type: "string", pattern: "^#(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})$" },
      phone: { type: "string", pattern: "^\\+?[0-9 ]{6,20}$" },
      key: { type: "string", pattern: "^(?:AKIA|ASIA)[A-Z0-9]{16}$" },
    },
    patternProperties: { "^x-": { type: "string", maxLength: 50 } },
    additionalProperties: false,
  },
  valid: [patternsValue, changed(patternsValue, ["color"], "#fff")],
  invalid: [
    changed(patternsValue, ["slug"], "a-fine-slug-"),
    changed(patternsValue, ["version"], "12.4"),
    changed(patternsValue, ["key"], "AKIA123"),
    changed(patternsValue, ["y-other"], "z"),
  ],
};

const tree = (depth: number): unknown => ({
  value: depth,
  name: `node ${depth}`,
  children: depth === 0 ? [] : [tree(depth - 1), tree(depth - 1)],
});
const treeValue = tree(5);
const recursive: Workload = {
  name: "recursive $ref",
  schema: {
    $ref: "#/$defs/node",
    $defs: {
      node: {
        type: "object",
        properties: {
          value: { type: "integer" },
          name: { type: "string" },
          children: { type: "array", items: { $ref: "#/$defs/node" } },
        },
        required: ["value", "children"],
        additionalProperties: false,
      },
    },
  },
  valid: [treeValue],
  invalid: [
    changed(treeValue, ["children", 1, "children", 1, "children", 1, "value"], "x"),
    changed(treeValue, ["children", 0, "children", 1, "children"], undefined),
  ],
};

/** Seven schemas. Shared by the benchmark and the tests of it. */
export const workloads: readonly Workload[] = [flat, nested, oneOf, formats, array, patterns, recursive];
