import { createFullKernel } from "@keyhole/kernel";
import { mcpSource } from "@keyhole/mcp";
import { expect, it } from "vitest";
import { Scripted } from "./scripted.ts";
import { afterwards, closeAfterEach } from "./support.ts";

closeAfterEach();

const content = [{ type: "text", text: "done" }];

it.each<[string, object, string]>([
  ["content that is no list", { content: "done" }, "TOOL_ERROR"],
  ["a block that is nothing", { content: [null] }, "TOOL_ERROR"],
  ["a block without a type", { content: [{ text: "done" }] }, "TOOL_ERROR"],
  ["a block of an unknown type", { content: [{ type: "script", text: "done" }] }, "TOOL_ERROR"],
  ["a picture without data", { content: [{ type: "image", mimeType: "image/png" }] }, "TOOL_ERROR"],
  ["a mark that is no mark", { content, isError: "no" }, "TOOL_ERROR"],
  ["a task", { task: { taskId: "1" } }, "TOOL_ERROR"],
  ["a request for input", { resultType: "input_required", inputRequests: {} }, "TOOL_ERROR"],
  ["an error without a text", { error: { code: 1 } }, "TOOL_ERROR"],
  ["no content", {}, "ok"],
])("a source takes a result with %s as what it is", async (_, result, code) => {
  const kernel = await createFullKernel({ policy: { version: "1", posture: "permissive" } });
  afterwards(() => kernel.close());
  const server = new Scripted({ call: () => result });
  const source = await mcpSource(kernel, { name: "peer", server, era: "2025-11-25" });
  afterwards(() => source.close());
  const called = await kernel.call("peer_echo", {});
  expect(called.ok ? "ok" : called.error.code).toBe(code);
});
