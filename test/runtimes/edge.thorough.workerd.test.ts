import { scopes } from "@keyhole/edge";
import { edgeBus } from "@keyhole/edge/bus";
import { edgeMcp } from "@keyhole/edge/mcp";
import { expect, it } from "vitest";

it("in workerd @keyhole/edge runs", () => {
  expect(scopes).toContain("tools:call");
  expect([typeof edgeBus, typeof edgeMcp]).toEqual(["function", "function"]);
});
