import type { AgentKernel } from "@keyhole/agents/ai-sdk";
import type { Kernel, Progress } from "@keyhole/kernel";
import { describe, expect, it } from "vitest";
import { frameworks } from "./drivers.ts";
import { openWorld } from "./world.ts";

/** A kernel whose tools were listed before the policy or the mode forbade them. */
const listedBefore = (kernel: Kernel): AgentKernel => ({
  list: () => kernel.list(),
  call: (tool, input, options) => kernel.call(tool, input, options),
  preview: (tool, input, options) => kernel.preview(tool, input, options),
});

describe.each(Object.entries(frameworks))("the kernel's tools in %s", (_, { drive, asks, checks }) => {
  /** The model is told it, whatever its framework puts around it. */
  const told = async (tool: string, input: unknown, answer?: "yes" | "no") => {
    const world = await openWorld(answer && (answer === "yes" ? "allow" : "deny"));
    const text = await drive(listedBefore(world.kernel), { tool, input, ...(answer && { answer }) });
    return {
      text: text.replaceAll('\\"', '"'),
      log: await world.log(),
      hashes: await world.hashes(),
      kernel: world.kernel,
    };
  };

  it("give a result, and it is on record", async () => {
    const { text, log, hashes } = await told("add", { a: 1, b: 2 });
    expect(text).toContain('"sum":3');
    expect(hashes).toEqual([expect.stringContaining("blake3:")]);
    expect(log).toContain("tool.completed");
  });

  it.each<[string, string, object, string]>([
    ...(checks ? [] : [["invalid input", "add", { a: "one" }, "INVALID_INPUT"] as [string, string, object, string]]),
    ["a denied call", "locked", {}, "POLICY_DENIED"],
    ["a tool that throws", "broken", {}, "TOOL_ERROR"],
    ["a tool that hangs", "endless", {}, "TIMEOUT"],
  ])("tell the model of %s, with a hint and no advice for operators", async (_name, tool, input, code) => {
    const { text } = await told(tool, input);
    expect(text).toContain(`"code":"${code}"`);
    expect(text).toContain('"hint":');
    expect(text).not.toContain("operatorHint");
  });

  it.runIf(checks)("do not run with invalid input, which the framework finds", async () => {
    const { text, log } = await told("add", { a: "one" });
    expect(text).toContain("did not match expected schema");
    expect(log).toEqual([]);
  });

  it("report progress", async () => {
    const world = await openWorld();
    const reports: unknown[] = [];
    const onProgress = (tool: string, { done }: Progress) => void reports.push([tool, done]);
    await drive(world.kernel, { tool: "steps", input: {}, onProgress });
    expect(reports).toEqual([1, 2, 3].map((done) => ["steps", done]));
  });

  it("run a call that a person approved", async () => {
    const { text, log } = await told("save_note", {}, "yes");
    expect(text).toContain('"saved":true');
    expect(log.filter((type) => type.startsWith("approval.") || type === "tool.completed").at(-1)).toBe(
      "tool.completed",
    );
    expect(log.some((type) => type.startsWith("approval."))).toBe(true);
  });

  it("do not run a call that a person denied", async () => {
    const { text, log } = await told("save_note", {}, "no");
    expect(text).not.toContain('"saved":true');
    expect(log).not.toContain("tool.started");
    // A framework that asks by itself does not call what its person denied.
    if (!asks) expect(text).toContain('"code":"APPROVAL_DENIED"');
  });

  it("give bytes, and a digest of them", async () => {
    const { text, hashes } = await told("picture", {});
    expect(text).toContain("iVBORw==");
    expect(hashes).toHaveLength(1);
  });

  it("cut a long text, and say so", async () => {
    const { text } = await told("long", {});
    expect(text).toContain('"truncated":true');
    expect(new TextEncoder().encode(text).length).toBeLessThan(70_000);
  });

  it("are refused in lockdown", async () => {
    const world = await openWorld();
    await world.kernel.setMode("LOCKDOWN", "drill");
    const text = await drive(listedBefore(world.kernel), { tool: "save_note", input: {} });
    expect(text.replaceAll('\\"', '"')).toContain("POLICY_DENIED");
  });

  it("end when the agent is cancelled", async () => {
    const world = await openWorld();
    const stop = new AbortController();
    world.kernel.audit.subscribe(({ type }) => {
      if (type === "tool.started") setTimeout(() => stop.abort());
    });
    await drive(world.kernel, { tool: "patient", input: {}, signal: stop.signal }).catch(() => "");
    await expect.poll(() => world.log()).toContain("tool.failed");
  });
});

it("one call has one digest in every framework", async () => {
  const hashes = await Promise.all(
    Object.values(frameworks).map(async ({ drive }) => {
      const world = await openWorld();
      await drive(world.kernel, { tool: "add", input: { a: 1, b: 2 } });
      return world.hashes();
    }),
  );
  expect(new Set(hashes.flat()).size).toBe(1);
});
