import { createKernel, type ToolContext } from "@keyhole/kernel";
import { expect, it } from "vitest";
import { expectSoundLog, toolOf } from "../support/kernel.ts";

it("a broker that answers with a code that there is none of leaves no gap in the log", async () => {
  const capability = { kind: "fs.read", paths: ["**"] } as const;
  const kernel = await createKernel({
    policy: { version: "1", posture: "permissive", grants: [{ tool: "*", capability }] },
    brokers: [
      {
        kinds: ["fs.read"],
        needs: () => ({ ok: true, needs: [{ kind: "fs.read", path: "a" }] }),
        serve: async () => ({ ok: false, error: { code: "NO_CODE", message: "", hint: "" } }) as never,
      },
    ],
  });
  const parts = { effects: ["fs.read"], capabilities: [capability], determinism: "external" } as const;
  kernel.register(
    toolOf((_input, { files }: ToolContext) => files.read("a"), { ...parts, output: { kind: "binary" } }),
  );
  expect(await kernel.call("subject", {})).toMatchObject({ ok: false, error: { code: "INTERNAL" } });
  await expectSoundLog(kernel);
});
