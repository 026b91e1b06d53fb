import { changed, type Workload } from "./schema-workload.ts";

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
/** An order as a shop has it: objects in arrays in objects. */
export const nested: Workload = {
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
