import { fileURLToPath } from "node:url";
import { manifestFileSchema, packageFileSchema, policyFileSchema } from "@keyhole/kernel/document-schemas";
import { eventSchema } from "@keyhole/kernel/event-schema";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import { eventsOf, recordsOf } from "../../audit/log-of.ts";
import { wrongEvents } from "../../audit/wrong-events.ts";
import { fuzz, recordVerdicts } from "./fuzz.ts";

describe("verdicts of the validator and of ajv", () => {
  it("agree on 20,000 random pairs of a schema and a value", () => {
    const { pairs, disagreements } = fuzz(20_000, 20_260_131);
    expect(disagreements).toEqual([]);
    expect(pairs).toBeGreaterThanOrEqual(20_000);
  });

  it("are those that the quick suite compares with", async () => {
    const path = fileURLToPath(new URL("../../schema/ajv-verdicts.jsonl", import.meta.url));
    await expect(recordVerdicts(150, 7)).toMatchFileSnapshot(path);
  });
});

describe("ajv with the published schema of events", () => {
  const ajv = new Ajv2020({ strict: true, strictRequired: false, allowUnionTypes: true });
  const validate = ajv.compile(eventSchema);

  it("takes a log, and none of its events with a member more, less, or of another type", async () => {
    const events = eventsOf(await recordsOf(20));
    for (const event of events) expect(validate(event), ajv.errorsText(validate.errors)).toBe(true);
    expect(events.flatMap(wrongEvents).filter(([, event]) => validate(event))).toEqual([]);
  });
});

describe("ajv with the published schemas of files", () => {
  const ajv = new Ajv2020({ strict: true, strictRequired: false, strictTypes: false });

  it("compiles each of them", () => {
    const [policy, manifest] = [policyFileSchema, manifestFileSchema, packageFileSchema].map((each) =>
      ajv.compile(each),
    );
    expect(policy?.({ version: "1", posture: "strict" })).toBe(true);
    expect(policy?.({ version: "1", posture: "mild" })).toBe(false);
    expect(manifest?.({ name: "a" })).toBe(false);
  });
});
