import { expect, it } from "vitest";
import { configuredParts } from "../../packages/edge/src/object/configured.ts";
import { inJson } from "./documents.ts";

const document = JSON.parse(inJson) as object;

it("a Worker takes tools, policy, triggers and names of secrets from a configuration", () => {
  const { tools, pipelines, policy, modeTriggers, secrets } = configuredParts(document);
  expect(tools.map(({ manifest }) => manifest.name)).toEqual(["weather"]);
  expect(pipelines.map(({ definition }) => definition.name)).toEqual(["report"]);
  const usual = { version: "1", posture: "standard" } as const;
  expect(policy(undefined, usual)).toMatchObject({ tools: { weather: { bounds: { callsPerHour: 3 } } } });
  expect(modeTriggers).toHaveLength(1);
  const store = secrets?.({ KEYHOLE_TEST_WEATHER: "0123456789abcdef", OTHER: "fedcba9876543210" });
  expect([store?.get("weather"), store?.get("OTHER")]).toEqual(["0123456789abcdef", undefined]);
});

it.each([
  { sink: { file: "a" } },
  { brokers: { files: "a" } },
  { tools: ["a.json"] },
  { sinks: {} },
  { policy: "p.json" },
])("a Worker refuses %j", (more) => {
  expect(() => configuredParts({ ...document, ...more })).toThrow(/onfiguration/);
});
