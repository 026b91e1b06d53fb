import { expect, it } from "vitest";
import { fuzz } from "./fuzz.ts";

it("agrees with ajv on random schemas and values", () => {
  const { pairs, disagreements } = fuzz(4_000, 20_260_131);
  expect(disagreements).toEqual([]);
  expect(pairs).toBeGreaterThanOrEqual(4_000);
}, 30_000);
