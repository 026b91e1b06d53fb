import { expect, it } from "vitest";
import { startEdge } from "../../scripts/serve/edge.mjs";
import { freePorts } from "../../scripts/serve/ports.mjs";
import { untilBuilt } from "./playground/site.ts";

it("an edge whose policy is not valid does not start, and names the setting", async () => {
  await untilBuilt();
  const [port = 0] = await freePorts(1);
  const tokens = { "own-token": { subject: "tester", scopes: ["tools:call"] } } as const;
  await expect(startEdge({ port, tokens, policy: { version: "9" } })).rejects.toThrow(
    "The kernel cannot serve calls:\nMISCONFIGURED: The policy is not valid.",
  );
});
