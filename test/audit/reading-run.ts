import { type Broker, createKernel, defineTool } from "@keyhole/kernel";
import { fsRead } from "@keyhole/kernel/families";
import { inlineHost } from "@keyhole/kernel/inline";
import { recordingHost, type RunEntry } from "@keyhole/kernel/replay";
import { expect } from "vitest";
import { FakeClock } from "../support/fake-clock.ts";

/** Reads files, several at the same time, and mixes in time and chance. */
export const reader = defineTool({
  name: "reader",
  version: "1.0.0",
  description: "Reads files.",
  determinism: "external",
  effects: ["fs.read"],
  capabilities: [{ kind: "fs.read", paths: ["**"] }],
  input: {
    type: "object",
    properties: { paths: { type: "array", items: { type: "string" } } },
    required: ["paths"],
  } as const,
  output: { kind: "json" },
  execute: async ({ paths }, { files, now, random }) => {
    const order: string[] = [];
    const texts = await Promise.all(
      paths.map(async (path) => {
        const bytes = await files.read(path).catch((error: Error) => new TextEncoder().encode(error.message));
        order.push(path);
        return new TextDecoder().decode(bytes);
      }),
    );
    return { texts, order, now: now(), random: random() };
  },
});

/** Answers out of order, and another text each time. */
export function restlessFiles(): Broker & { served: number } {
  const broker = {
    served: 0,
    families: [fsRead],
    needs: ({ arguments: asked }: { arguments: { readonly path?: unknown } }) =>
      ({ ok: true, needs: [{ kind: "fs.read", path: String(asked.path) }] }) as const,
    serve: async () => {
      const turn = ++broker.served;
      for (let i = 0; i < (turn * 7) % 11; i++) await Promise.resolve();
      if (turn % 5 === 0)
        return { ok: false, error: { code: "UNAVAILABLE", message: `gone ${turn}`, hint: "" } } as const;
      return { ok: true, value: null, body: new TextEncoder().encode(`text ${turn}`) } as const;
    },
  };
  return broker;
}

export const policy = {
  version: "1",
  posture: "permissive",
  grants: [{ tool: "reader", capability: { kind: "fs.read", paths: ["**"] } }],
};

export async function recorded(calls: readonly (readonly string[])[]) {
  const entries: RunEntry[] = [];
  const files = restlessFiles();
  const host = recordingHost(inlineHost(), (entry) => entries.push(entry));
  const kernel = await createKernel({ host, policy, brokers: [files], clock: new FakeClock() });
  kernel.registerTrusted(reader);
  const results = await Promise.all(calls.map((paths) => kernel.call("reader", { paths: [...paths] })));
  expect(results.every(({ ok }) => ok)).toBe(true);
  await kernel.close();
  return { run: { entries }, files };
}
