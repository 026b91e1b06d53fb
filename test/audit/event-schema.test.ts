import { readFile } from "node:fs/promises";
import { createKernel } from "@keyhole/kernel";
import { eventSchema, payloadSchemas } from "@keyhole/kernel/event-schema";
import { compileSchema } from "@keyhole/kernel/schema";
import { describe, expect, it } from "vitest";
import { root } from "../support/sources.ts";
import { eventsChecked } from "../support/every-event.ts";
import { eventsOf, recordsOf } from "./log-of.ts";
import { wrongEvents } from "./wrong-events.ts";

const compiled = compileSchema(eventSchema);
if (!compiled.ok) throw new Error(compiled.error.message);
const { check } = compiled.validator;
const events = eventsOf(await recordsOf(20));

describe("the schema of events", () => {
  it("is published as a file, which `npm run write:schemas` writes", async () => {
    expect(JSON.parse(await readFile(`${root}docs/audit-event.schema.json`, "utf8"))).toEqual(eventSchema);
  });

  it("takes a log", () => {
    expect(events.filter((event) => !check(event))).toEqual([]);
  });

  it("takes no event with a member more, less, or of another type", () => {
    const wrong = events.flatMap(wrongEvents);
    expect(wrong.filter(([, event]) => check(event)).map(([what]) => what)).toEqual([]);
    expect(wrong.length).toBeGreaterThan(events.length * 10);
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
