import { createKernel } from "@keyhole/kernel";
import { mcpSource } from "@keyhole/mcp";
import { expect, it } from "vitest";
import { Scripted, type ScriptedOptions } from "./scripted.ts";
import { afterwards, closeAfterEach } from "./support.ts";

closeAfterEach();

const content = [{ type: "text", text: "done" }];
const modern = "2026-07-28";

async function codeOf(script: ScriptedOptions): Promise<string> {
  const kernel = await createKernel({ policy: { version: "1", posture: "permissive" } });
  afterwards(() => kernel.close());
  const source = await mcpSource(kernel, {
    name: "peer",
    server: new Scripted(script),
    era: script.era ?? "2025-11-25",
  });
  afterwards(() => source.close());
  const called = await kernel.call("peer_echo", {});
  return called.ok ? "ok" : called.error.code;
}

it.each<[string, object, string, string?]>([
  ["content", { content }, "ok"],
  ["content that is no list", { content: "done" }, "TOOL_ERROR"],
  ["a block that is nothing", { content: [null] }, "TOOL_ERROR"],
  ["a block without a type", { content: [{ text: "done" }] }, "TOOL_ERROR"],
  ["a block of an unknown type", { content: [{ type: "script", text: "done" }] }, "TOOL_ERROR"],
  ["a picture without data", { content: [{ type: "image", mimeType: "image/png" }] }, "TOOL_ERROR"],
  ["a mark that is no mark", { content, isError: "no" }, "TOOL_ERROR"],
  ["a task", { task: { taskId: "1" } }, "TOOL_ERROR"],
  ["a request for input", { resultType: "input_required", inputRequests: {} }, "TOOL_ERROR"],
  ["a request for input beside content", { content, resultType: "input_required", requestState: "a" }, "TOOL_ERROR"],
  ["no content", {}, "ok", "TOOL_ERROR"],
  ["no type of result", { content, resultType: undefined }, "ok", "TOOL_ERROR"],
  ["an unknown type of result", { content, resultType: "later" }, "ok", "TOOL_ERROR"],
  ["a type of result that is no text", { content, resultType: 1 }, "ok", "TOOL_ERROR"],
])("a source takes a result with %s as what it is", async (_, result, inOlderEra, inNewerEra = inOlderEra) => {
  expect(await codeOf({ call: () => result })).toBe(inOlderEra);
  const script = { era: modern, call: () => ({ resultType: "complete", ...result }) } as const;
  expect(await codeOf(script)).toBe(inNewerEra);
  // The SDK's client says the same.
  expect(await codeOf({ ...script, hasProcess: false })).toBe(inNewerEra);
});

it("a source takes an error without a text as an error", async () => {
  const call = (): object => ({ error: { code: 1 } });
  expect([await codeOf({ call }), await codeOf({ era: modern, call })]).toEqual(["TOOL_ERROR", "TOOL_ERROR"]);
});
