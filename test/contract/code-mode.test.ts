import { createKernel, defineTool } from "@keyhole/kernel";
import { nodeHost } from "@keyhole/worker-host/node";
import { runCode } from "@keyhole/worker-host/tools";
import { expect, it } from "vitest";
import { expectSoundLog } from "../support/kernel.ts";

const policy = {
  version: "1",
  posture: "permissive",
  grants: [{ tool: "run_code", capability: { kind: "tool.call", tools: ["*"] } }],
};

it("code mode is refused where programs would run in a thread, also when the tool itself is trusted", async () => {
  const kernel = await createKernel({ host: nodeHost({ trusted: [runCode.hash] }), policy });
  kernel.register(runCode);
  expect(await kernel.call("run_code", { code: "return 1;" })).toMatchObject({
    ok: false,
    error: { code: "UNSUPPORTED_HOST" },
  });
  await expectSoundLog(kernel);
  await kernel.close();
});

it("a tool object brings no programs: nothing makes code out of text in the kernel's realm", async () => {
  const kernel = await createKernel({ policy });
  const tool = defineTool({
    name: "inline_code",
    version: "1.0.0",
    description: "Would run a program.",
    program: "code",
    input: { type: "object", properties: { code: { type: "string" } } },
    output: { kind: "text" },
    execute: () => "ran",
  });
  expect(kernel.register(tool)).toMatchObject({ ok: false, error: { code: "INVALID_MANIFEST", path: "/program" } });
});
