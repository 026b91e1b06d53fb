import type { Broker, JsonValue, ToolContext } from "@keyhole/kernel";
import { fsRead } from "@keyhole/kernel/families";
import { describe, expect, it } from "vitest";
import { failureOf } from "../../packages/worker-host/src/edge/failure-from-log.ts";
import { openKernel, toolOf } from "../support/kernel.ts";

const noFiles: Broker = {
  families: [fsRead],
  needs: ({ arguments: { path } }) => ({ ok: true, needs: [{ kind: "fs.read", path: String(path) }] }),
  serve: async () => ({ ok: false, error: { code: "NOT_FOUND", message: "No file.", hint: "" } }),
};
const policy = { version: "1", posture: "permissive", grants: [] } as const;

/** What the log says of a call whose tool made a request that was refused. */
async function failed(body: (read: Promise<unknown>, cancel: () => void) => Promise<JsonValue>) {
  const { kernel, events } = await openKernel({ policy, brokers: [noFiles] });
  const cancel = new AbortController();
  const tool = toolOf((_: never, { files }: ToolContext) => body(files.read("a"), () => cancel.abort()), {
    effects: ["fs.read"],
    determinism: "external",
    capabilities: [{ kind: "fs.read", paths: ["**"], optional: true }],
  });
  kernel.registerTrusted(tool);
  await kernel.call("subject", {}, { signal: cancel.signal });
  const log = await events();
  const end = log.find(({ type }) => type === "tool.failed") ?? expect.unreachable("The call did not fail.");
  return failureOf(end, log);
}

describe("a failure that is read from the log", () => {
  it("has the proof of the refused request that ended the call", async () => {
    const result = await failed(async (read) => read.then(() => null));
    expect(result).toMatchObject({ error: { code: "CAPABILITY_DENIED" }, proof: { reasonCode: "request-denied" } });
  });

  it("has not the proof of a refused request when the call was cancelled later", async () => {
    const result = await failed(async (read, cancel) => {
      await read.catch(() => {});
      cancel();
      throw new Error("stopped");
    });
    expect(result).toMatchObject({ ok: false, error: { code: "CANCELLED" } });
    expect(result?.proof).toBeUndefined();
  });
});
