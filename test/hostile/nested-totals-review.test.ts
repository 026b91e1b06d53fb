import type { Broker } from "@keyhole/kernel";
import { expect, it } from "vitest";
import { openPolicy } from "../support/kernel.ts";
import { calling, leaf, openCalling } from "../support/nested.ts";

it("a total of file bytes holds for a call and all calls within it", async () => {
  let bytes = 0;
  const store: Broker = {
    kinds: ["fs.write"],
    needs: ({ body }) => ({ ok: true, needs: [{ kind: "fs.write", path: "a", bytes: body?.byteLength ?? 0 }] }),
    serve: async ({ body }) => {
      bytes += body?.byteLength ?? 0;
      return { ok: true, value: null };
    },
  };
  const answers: boolean[] = [];
  const fan = calling("fan", async (_, { tools }) => {
    for (let i = 0; i < 10; i++) answers.push((await tools.call("inner", {})).ok);
    return 1;
  });
  const inner = leaf(
    "inner",
    async (_, { files }: { files: { write(path: string, data: Uint8Array): Promise<void> } }) => {
      await files.write("a", new Uint8Array(75));
      return 1;
    },
    { effects: ["fs.write"], capabilities: [{ kind: "fs.write", paths: ["**"] }] },
  );
  const calls = { kind: "tool.call", tools: ["*"] } as const;
  const write = { kind: "fs.write", paths: ["**"] } as const;
  const grants = [calls, write].map((capability) => ({ tool: "*", capability }));
  const { kernel } = await openCalling([fan, inner], { brokers: [store], policy: { ...openPolicy, grants } });
  await kernel.call("fan", {}, { grants: [calls, { ...write, totalBytes: 150 }] });
  expect(bytes).toBe(150);
  expect(answers).toEqual([true, true, ...Array.from({ length: 8 }, () => false)]);
});
