import { createKernel, defineTool } from "@keyhole/kernel";
import { nodeHost } from "@keyhole/worker-host/node";
import { expect, it } from "vitest";
import { describeCodeMode } from "./code-mode.ts";

// A program is never what somebody trusted, so it runs in the interpreter.
describeCodeMode("the Node host", async () => nodeHost());

it("a tool object brings no programs: nothing makes code out of text in the kernel's realm", async () => {
  const kernel = await createKernel();
  const tool = defineTool({
    name: "inline_code",
    version: "1.0.0",
    description: "Would run a program.",
    program: "code",
    input: { type: "object", properties: { code: { type: "string" } } },
    output: { kind: "text" },
    execute: () => "ran",
  });
  expect(kernel.registerTrusted(tool)).toMatchObject({
    ok: false,
    error: { code: "INVALID_MANIFEST", path: "/program" },
  });
});
