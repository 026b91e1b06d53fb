import { type CapabilityRequest, createKernel, type IsolateHost } from "@keyhole/kernel";
import { filesBroker, memoryStore } from "@keyhole/worker-host/brokers/files";
import { describe, expect, it } from "vitest";
import { expectSoundLog, openPolicy, toolOf } from "../support/kernel.ts";
import { hostOpening } from "../support/module-host.ts";

/** Passes on whatever its guest asks for. */
function hostThatAsks(request: unknown): IsolateHost {
  const open: IsolateHost["open"] = async () => ({
    alive: true,
    terminate: () => {},
    async call(_, port) {
      const reply = await port.request(request as CapabilityRequest);
      return { kind: "returned", output: { form: "json", text: JSON.stringify(reply.ok ? "" : reply.error.code) } };
    },
  });
  return hostOpening("asking", open, { sources: ["inline"], brokers: [filesBroker(memoryStore())] });
}

describe("the journal", () => {
  it.each([
    ["no text", "\ud800"],
    ["endless", "x".repeat(100_000)],
  ])("keeps a request whose operation is %s", async (_, operation) => {
    const host = hostThatAsks({ kind: "fs.read", operation, arguments: { path: "a" } });
    const kernel = await createKernel({ host, policy: openPolicy });
    kernel.register(toolOf(() => 1));
    expect(await kernel.call("subject", {})).toMatchObject({ ok: true, data: "INVALID_REQUEST" });
    const used = (await kernel.audit.read()).filter(({ type }) => type === "capability.used");
    expect(used).toMatchObject([{ payload: { outcome: "refused" } }]);
    expect(JSON.stringify(used).length).toBeLessThan(2_000);
    await expectSoundLog(kernel);
  });
});
