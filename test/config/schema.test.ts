import { readFileSync } from "node:fs";
import { compileSchema } from "@keyhole/kernel/schema";
import { configFileSchema } from "@keyhole/worker-host/config-schema";
import { expect, it } from "vitest";
import { root } from "../support/sources.ts";
import { inJson } from "./documents.ts";

it("the published schema is written by `npm run write:schemas`", () => {
  const text = readFileSync(`${root}packages/worker-host/schemas/config.schema.json`, "utf8");
  expect(JSON.parse(text)).toEqual(configFileSchema);
});

it("the published schema takes the configuration of the tests, and no unknown key", () => {
  const compiled = compileSchema(configFileSchema);
  if (!compiled.ok) throw new Error(compiled.error.message);
  const { validator } = compiled;
  expect(validator.check(JSON.parse(inJson))).toBe(true);
  for (const [before, after] of [
    ["limits", "limit"],
    ["headers", "header"],
    ["posture", "postur"],
    ["steps", "step"],
  ] as const)
    expect(validator.check(JSON.parse(inJson.replace(`"${before}"`, `"${after}"`)))).toBe(false);
});
