/** Seven schemas, each with values that conform and values that do not. Shared by the benchmark and the tests of it. */
export interface Workload {
  readonly name: string;
  readonly schema: { readonly [keyword: string]: unknown };
  readonly valid: readonly unknown[];
  readonly invalid: readonly unknown[];
}

const copy = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

/** A copy with one place changed: the last key of the path is set, or removed when the value is undefined. */
function changed(value: unknown, path: readonly (string | number)[], to: unknown): unknown {
  const root = copy(value);
  let at = root as Record<string | number, unknown>;
  for (const key of path.slice(0, -1)) at = at[key] as Record<string | number, unknown>;
  const last = path.at(-1) as string;
  if (to === undefined) delete at[last];
  else at[last] = to;
  return copy(root); // with the shape that JSON.parse gives it: deleting leaves a slower one
}

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

const address = (n: number) => ({
  street: `${n} Long Street`,
  city: "Springfield",
  zip: "12345",
  country: "US",
  geo: { lat: 12.5, lon: -70.25 },
});
const nestedValue = {
  order: {
    id: "order-000017",
    customer: {
      name: "Grace Hopper",
      email: "grace@navy.example",
      addresses: [address(1), address(22)],
      tags: ["vip", "early"],
    },
    lines: [1, 2, 3, 4, 5, 6].map((n) => ({
      sku: `SKU-${n}00${n}`,
      quantity: n,
      price: n * 3.5,
      options: { color: "red", size: "L", gift: n % 2 === 0 },
    })),
    payment: { method: "card", last4: "4242", billing: address(333) },
    history: [
      { at: "2026-01-01", state: "placed" },
      { at: "2026-01-02", state: "paid" },
      { at: "2026-01-05", state: "shipped" },
    ],
    meta: {
      source: "web",
      campaign: "winter",
      flags: { fraud: false, gift: true, express: true },
      notes: ["ring twice", "leave at door"],
    },
  },
};
const text = { type: "string", minLength: 1, maxLength: 200 };
const addressSchema = {
  type: "object",
  properties: {
    street: text,
    city: text,
    zip: { type: "string", minLength: 3, maxLength: 10 },
    country: { type: "string", minLength: 2, maxLength: 2 },
    geo: {
      type: "object",
      properties: {
        lat: { type: "number", minimum: -90, maximum: 90 },
        lon: { type: "number", minimum: -180, maximum: 180 },
      },
      required: ["lat", "lon"],
    },
  },
  required: ["street", "city", "zip"],
};
const nested: Workload = {
  name: "nested 2 KB",
  schema: {
    type: "object",
    properties: {
      order: {
        type: "object",
        properties: {
          id: { type: "string", minLength: 5 },
          customer: {
            type: "object",
            properties: {
              name: text,
              email: text,
              addresses: { type: "array", items: addressSchema, minItems: 1 },
              tags: { type: "array", items: { type: "string" }, uniqueItems: true },
            },
            required: ["name", "email"],
          },
          lines: {
            type: "array",
            minItems: 1,
            items: {
              type: "object",
              properties: {
                sku: text,
                quantity: { type: "integer", minimum: 1 },
                price: { type: "number", exclusiveMinimum: 0 },
                options: {
                  type: "object",
                  properties: {
                    color: { type: "string" },
                    size: { enum: ["S", "M", "L", "XL"] },
                    gift: { type: "boolean" },
                  },
                  additionalProperties: false,
                },
              },
              required: ["sku", "quantity", "price"],
            },
          },
          payment: {
            type: "object",
            properties: {
              method: { enum: ["card", "cash", "transfer"] },
              last4: { type: "string", minLength: 4, maxLength: 4 },
              billing: addressSchema,
            },
            required: ["method"],
          },
          history: {
            type: "array",
            items: {
              type: "object",
              properties: { at: { type: "string" }, state: { enum: ["placed", "paid", "shipped", "done"] } },
              required: ["at", "state"],
            },
          },
          meta: {
            type: "object",
            properties: {
              source: { type: "string" },
              campaign: { type: "string" },
              flags: { type: "object", additionalProperties: { type: "boolean" } },
              notes: { type: "array", items: { type: "string" }, maxItems: 10 },
            },
          },
        },
        required: ["id", "customer", "lines"],
      },
    },
    required: ["order"],
  },
  valid: [nestedValue, changed(nestedValue, ["order", "payment"], undefined)],
  invalid: [
    changed(nestedValue, ["order", "lines", 5, "quantity"], 0),
    changed(nestedValue, ["order", "history", 1, "state"], "lost"),
    changed(nestedValue, ["order", "customer", "addresses", 1, "zip"], undefined),
    changed(nestedValue, ["order", "meta", "notes", 1], 5),
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

export const workloads: readonly Workload[] = [flat, nested, oneOf, formats, array, patterns, recursive];
