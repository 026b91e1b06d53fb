import { scopes } from "@keyhole/edge";
import { expect, it } from "vitest";

it("in workerd @keyhole/edge runs", () => {
  expect(scopes).toContain("tools:call");
});
