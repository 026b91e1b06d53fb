import { readFile } from "node:fs/promises";
import { createKernel, type JsonObject } from "@keyhole/kernel";
import { eventSchema, payloadSchemas } from "@keyhole/kernel/event-schema";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import { root } from "../support/sources.ts";
import { eventsChecked } from "../support/every-event.ts";
import { eventsOf, recordsOf } from "./log-of.ts";

const ajv = new Ajv2020({ strict: true, strictRequired: false, allowUnionTypes: true });
const validate = ajv.compile(eventSchema);
const events = eventsOf(await recordsOf(20));

describe("the schema of events", () => {
  it("is published as a file, which `npm run write:event-schema` writes", async () => {
    expect(JSON.parse(await readFile(`${root}docs/audit-event.schema.json`, "utf8"))).toEqual(eventSchema);
  });

  it("takes a log, also for another validator", () => {
    for (const event of events) expect(validate(event), ajv.errorsText(validate.errors)).toBe(true);
  });

  it("takes no event with a member more, less, or of another type", () => {
    for (const event of events as unknown as readonly JsonObject[]) {
      expect(validate({ ...event, more: 1 })).toBe(false);
      expect(validate({ ...event, payload: { ...(event["payload"] as JsonObject), more: 1 } })).toBe(false);
      expect(validate({ ...event, type: "tool.forgotten" })).toBe(false);
      for (const key of Object.keys(event)) {
        const { [key]: _, ...less } = event;
        expect(validate(less), `without ${key}`).toBe(false);
        expect(validate({ ...event, [key]: [] }), `${key} as a list`).toBe(false);
      }
    }
  });

  it("has one shape per type", () => {
    const shapes = eventSchema["oneOf"] as readonly {
      readonly properties: { readonly type: { readonly const: string } };
    }[];
    expect(shapes.map(({ properties }) => properties.type.const)).toEqual(Object.keys(payloadSchemas));
  });

  it("is what every test is held to", async () => {
    const before = eventsChecked();
    const kernel = await createKernel();
    await kernel.setMode("ALERT", "drill");
    expect(eventsChecked()).toBe(before + 1);
  });
});
