import { expect, it } from "vitest";
import { buildAll, isBuilt } from "../../scripts/serve/build.mjs";
import { startEdge } from "../../scripts/serve/edge.mjs";
import { freePorts } from "../../scripts/serve/ports.mjs";

it("an edge whose policy is not valid does not start, and names the setting", async () => {
  if (!isBuilt()) await buildAll();
  const [port = 0, sandboxPort = 0] = await freePorts(2);
  const tokens = { "own-token": { subject: "tester", scopes: ["tools:call"] } };
  await expect(startEdge({ port, sandboxPort, tokens, policy: { version: "9" } })).rejects.toThrow(
    "The kernel cannot serve calls:\nMISCONFIGURED: The policy is not valid.",
  );
});
