import type { Capability, ToolContext } from "@keyhole/kernel";
import { describe, expect, it } from "vitest";
import { openKernel, toolOf } from "../support/kernel.ts";

/* What trusted code does by itself while it runs. */

const web = (more: object = {}): readonly Capability[] =>
  (["net.read", "net.write"] as const).map((kind) => ({ kind, hosts: ["a.example"], ...more }));
const place = { host: "a.example", port: 443, path: "/" };
const needs = [
  { kind: "net.read", method: "GET", ...place },
  { kind: "net.write", method: "POST", ...place },
] as const;

/** A call of a tool that runs this, under a budget of each grant. */
async function running(execute: (context: ToolContext) => unknown, budget: object = {}) {
  const grants = web(budget).map((capability) => ({ tool: "*", capability }));
  const { kernel, clock } = await openKernel({ policy: { version: "1", posture: "permissive", grants } });
  const tool = toolOf(async (_: never, context: ToolContext) => execute(context), {
    determinism: "external",
    effects: ["net.read", "net.write"],
    capabilities: web(),
    needs,
    output: { kind: "text" },
  });
  expect(kernel.registerTrusted(tool)).toMatchObject({ ok: true });
  return { kernel, clock, called: kernel.call("subject", {}) };
}

const charging = (context: ToolContext, bytes: number, isRequest = false): boolean => context.charge!(bytes, isRequest);

describe("a use that trusted code charges", () => {
  it("counts as the call's, with its output once, and each request stands on record", async () => {
    const { kernel, called } = await running((context) => {
      expect([charging(context, 30), charging(context, 5, true)]).toEqual([true, true]);
      return "x".repeat(50);
    });
    // 2 bytes of arguments, and the 50 of the output in place of the 35 that the tool charged.
    expect(await called).toMatchObject({ ok: true, meta: { networkRequests: 2, networkBytes: 52 } });
    const used = (await kernel.audit.read()).filter(({ type }) => type === "capability.used");
    expect(used.map(({ payload }) => (payload as { readonly kind?: string }).kind)).toEqual([
      "net.read",
      "net.write",
      "net.read",
      "net.write",
    ]);
  });

  it.each([
    ["a request", { requests: 2 }, (context: ToolContext) => [charging(context, 0, true), charging(context, 0, true)]],
    ["a byte", { bytes: 12 }, (context: ToolContext) => [charging(context, 10), charging(context, 1)]],
  ])("of %s too many ends the call, also of a tool that goes on", async (_, budget, charges) => {
    const seen: unknown[] = [];
    const { called } = await running((context) => {
      seen.push(...charges(context), context.signal.aborted, charging(context, 0));
      return "done";
    }, budget);
    const refused = { ok: false, error: { code: "BOUNDS_EXCEEDED", message: expect.stringContaining("net.read") } };
    expect(await called).toMatchObject(refused);
    expect(seen).toEqual([true, false, true, false]);
  });

  it("is refused after a revocation, and after the end", async () => {
    const begun = Promise.withResolvers<ToolContext>();
    const { kernel, clock, called } = await running((context) => {
      begun.resolve(context);
      return new Promise(() => {});
    });
    const context = await begun.promise;
    await kernel.grants.revoke({ tool: "subject", kinds: ["net.read"] }, "Enough.");
    expect(charging(context, 0, true)).toBe(false);
    await clock.advance(250);
    expect(await called).toMatchObject({ error: { code: "CAPABILITY_DENIED" }, meta: { networkRequests: 1 } });
    expect(charging(context, 0, true)).toBe(false);
  });
});
