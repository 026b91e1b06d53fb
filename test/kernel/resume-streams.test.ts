import type { Approver, CallOptions, IsolateHost, Kernel } from "@keyhole/kernel";
import { interpreterHost } from "@keyhole/worker-host/wasm";
import { describe, expect, it } from "vitest";
import { expectSoundLog } from "../support/kernel.ts";
import { asking, bytesOf, suspendingKernel } from "../support/suspension.ts";
import { testEngine } from "../wasm/engine.ts";

const host = async (): Promise<IsolateHost> => interpreterHost({ engine: await testEngine() });
const yes: Approver = async () => ({ answer: "allow", scope: "once", approver: "ada" });

describe("whoever resumes a call", () => {
  it.each([
    ["another's bytes", async () => new Uint8Array(8)],
    ["a snapshot", async (kernel: Kernel) => bytesOf(kernel, await asking(kernel, "guarded", {}))],
  ])("gives it no stream, and is told so: with %s", async (_, make) => {
    const { kernel, events } = await suspendingKernel(await host());
    const bytes = await make(kernel);
    const before = await events();
    const ended = [Promise.withResolvers<unknown>(), Promise.withResolvers<unknown>()] as const;
    const output = new WritableStream<Uint8Array>({ abort: ended[0].resolve });
    const body = new ReadableStream<Uint8Array>({ cancel: ended[1].resolve });
    const options: CallOptions = { approver: yes, output, body };
    const error = { code: "INVALID_INPUT", message: expect.stringContaining("stream") };
    expect(await kernel.resume(bytes, options)).toMatchObject({ ok: false, error });
    expect(await ended[0].promise).toMatchObject({ message: expect.stringContaining("stream") });
    expect(await ended[1].promise).toBe("The call has ended.");
    expect(await events()).toEqual(before);
  });

  it("goes on with the same bytes after that", async () => {
    const { kernel } = await suspendingKernel(await host());
    const bytes = await bytesOf(kernel, await asking(kernel, "guarded", { n: 1 }));
    const options: CallOptions = { output: new WritableStream<Uint8Array>() };
    expect(await kernel.resume(bytes, options)).toMatchObject({ error: { code: "INVALID_INPUT" } });
    expect(await kernel.resume(bytes, { approver: yes })).toMatchObject({ ok: true, data: { done: { n: 1 } } });
    await expectSoundLog(kernel);
  });

  it("has what it gave ended where something else is wrong with the options", async () => {
    const { kernel } = await suspendingKernel(await host());
    const ended = Promise.withResolvers<unknown>();
    const options = { signal: 1, output: new WritableStream({ abort: ended.resolve }) } as unknown as CallOptions;
    const message = "`signal` is not an AbortSignal.";
    expect(await kernel.resume(new Uint8Array(8), options)).toMatchObject({
      error: { code: "INVALID_INPUT", message },
    });
    expect(await ended.promise).toMatchObject({ message });
  });
});
