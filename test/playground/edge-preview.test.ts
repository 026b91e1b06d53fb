import type { Preview } from "@keyhole/kernel";
import { afterEach, describe, expect, it, vi } from "vitest";
import { openEdgeClient } from "../../packages/playground/src/client/edge-client.ts";
import { EdgeFault } from "../../packages/worker-host/src/edge/fault.ts";
import { foreseen } from "../../packages/playground/src/run/verdict.ts";
import { edgeThatSends } from "./edge-parts.ts";

afterEach(() => vi.unstubAllGlobals());

async function previewOf(answer: () => Response): Promise<Preview> {
  edgeThatSends([], undefined, { "/v1/tools/pour/preview": answer });
  const client = await openEdgeClient({ address: "https://edge.example", token: "t" });
  return client.preview!({ tool: "pour", version: "1.0.0", input: {}, sessionId: "s" });
}

const proof = { reasonCode: "rule", posture: "standard", tier: 1, determining: [{ ruleId: "no-pouring" }] };

describe("the preview of an edge", () => {
  it("says what would be decided", async () => {
    const preview = await previewOf(() => Response.json({ decision: "ask", tool: "pour@1.0.0", proof }));
    expect(foreseen(preview)).toEqual({ state: "asks", word: "would ask", why: "rule no-pouring" });
  });

  it("gives the edge's message of a refusal", async () => {
    const error = { code: "POLICY_DENIED", message: "A rule denies it." };
    const preview = await previewOf(() => Response.json({ decision: "deny", tool: "pour@1.0.0", error }));
    expect(foreseen(preview)).toMatchObject({ word: "would be refused", why: "A rule denies it." });
  });

  it("repeats a reason that this page does not know, also one named like a member of every object", async () => {
    const odd = { ...proof, reasonCode: "constructor" };
    const preview = await previewOf(() => Response.json({ decision: "allow", tool: "pour@1.0.0", proof: odd }));
    expect(foreseen(preview).why).toBe("constructor");
  });

  it.for<[string, object]>([
    ["a decision that there is not", { decision: "maybe", tool: "pour@1.0.0", proof }],
    ["an allow without a proof", { decision: "allow", tool: "pour@1.0.0" }],
    ["a denial without an error", { decision: "deny", tool: "pour@1.0.0" }],
    ["rules that are no list", { decision: "ask", tool: "pour@1.0.0", proof: { ...proof, determining: "all" } }],
  ])("is refused: %s", async ([, answer]) => {
    await expect(previewOf(() => Response.json(answer))).rejects.toThrow(EdgeFault);
  });

  it("is missing where the edge has no such address", async () => {
    await expect(previewOf(() => Response.json({}, { status: 404 }))).rejects.toThrow(EdgeFault);
  });
});
