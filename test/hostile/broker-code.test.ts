import { runInNewContext } from "node:vm";
import { type Broker, createKernel, type Kernel, type ToolContext } from "@keyhole/kernel";
import { fsRead } from "@keyhole/kernel/families";
import { nodeHost } from "@keyhole/worker-host/node";
import { describe, expect, it } from "vitest";
import subject from "keyhole:../contract/tools/subject.ts";
import { expectSoundLog, granting, toolOf } from "../support/kernel.ts";

const capability = { kind: "fs.read", paths: ["**"] } as const;
const policy = granting(capability);
const parts = { effects: ["fs.read"], capabilities: [capability], determinism: "external" } as const;

/** Says what its types do not let it say. */
const brokerOf = (answer: unknown): Broker => ({
  families: [fsRead],
  needs: () => ({ ok: true, needs: [{ kind: "fs.read", path: "a" }] }),
  serve: async () => answer as never,
});

async function outcomes(kernel: Kernel): Promise<readonly unknown[]> {
  const events = await kernel.audit.read();
  return events.flatMap(({ type, payload }) =>
    type === "capability.used" ? (payload as { outcome: string }).outcome : [],
  );
}

const bytes = Uint8Array.of(1, 2, 3);
const cycle: unknown[] = [];
cycle.push(cycle);

describe.each<[string, unknown]>([
  ["nothing", undefined],
  ["a number", 7],
  ["no error", { ok: false }],
  ["a code that there is none of", { ok: false, error: { code: "NO_CODE", message: "", hint: "" } }],
  ["a body that is no bytes", { ok: true, value: null, body: "abc" }],
  ["a body that is a buffer", { ok: true, value: null, body: bytes.buffer }],
  ["a body of wider numbers", { ok: true, value: null, body: Uint16Array.of(256) }],
  ["a body behind a proxy", { ok: true, value: null, body: new Proxy(bytes, {}) }],
  ["a function", { ok: true, value: { method: () => {} }, body: bytes }],
  ["a live object", { ok: true, value: new Map(), body: bytes }],
  ["a cycle", { ok: true, value: cycle, body: bytes }],
])("a broker that answers with %s", (_, answer) => {
  const refused = { ok: false, error: { code: "TOOL_ERROR", message: "The capability is out of order." } };

  it("gives the tool nothing of it, and is on record", async () => {
    const kernel = await createKernel({ policy, brokers: [brokerOf(answer)] });
    kernel.registerTrusted(toolOf(async (_input, { files }: ToolContext) => [...(await files.read("a"))], parts));
    expect(await kernel.call("subject", {})).toMatchObject({ ...refused, effects: ["fs.read"] });
    expect(await outcomes(kernel)).toEqual(["failed"]);
    await expectSoundLog(kernel);
  });

  it("does not end the process of a tool in a thread", async () => {
    const host = nodeHost({ trusted: [subject.hash] });
    const kernel = await createKernel({ policy, host, brokers: [brokerOf(answer)] });
    kernel.register(subject);
    expect(await kernel.call("subject", { deed: "read", value: "a" })).toMatchObject(refused);
    await kernel.close();
    await host.close();
  });
});

it("a broker can answer with bytes of another realm", async () => {
  const body: unknown = runInNewContext("Uint8Array.of(1, 2, 3)");
  expect(body).not.toBeInstanceOf(Uint8Array);
  const kernel = await createKernel({ policy, brokers: [brokerOf({ ok: true, value: null, body })] });
  kernel.registerTrusted(toolOf(async (_input, { files }: ToolContext) => [...(await files.read("a"))], parts));
  expect(await kernel.call("subject", {})).toMatchObject({ ok: true, data: [1, 2, 3] });
  await kernel.close();
});

it("what a broker adds to a refusal goes nowhere", async () => {
  const error = { code: "UNAVAILABLE", message: "No.", hint: "", cause: () => {} };
  const host = nodeHost({ trusted: [subject.hash] });
  const kernel = await createKernel({ policy, host, brokers: [brokerOf({ ok: false, error })] });
  kernel.register(subject);
  expect(await kernel.call("subject", { deed: "read", value: "a" })).toMatchObject({ error: { message: "No." } });
  await kernel.close();
  await host.close();
});
