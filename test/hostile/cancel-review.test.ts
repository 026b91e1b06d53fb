import { createKernel, type IsolateHost } from "@keyhole/kernel";
import { describe, expect, it } from "vitest";
import { settle } from "../support/fake-clock.ts";
import { openKernel, openPolicy, toolOf } from "../support/kernel.ts";
import { hostOpening } from "../support/module-host.ts";

describe("a caller", () => {
  it("that cancels while the start is being recorded starts nothing", async () => {
    let runs = 0;
    const recorded = Promise.withResolvers<void>();
    let slow = false;
    const events: unknown[] = [];
    const { kernel } = await openKernel({
      sink: {
        open: () => ({ last: undefined, cutBytes: 0, damage: null }),
        append: (batch) => {
          events.push(...batch);
          if (slow) return recorded.promise;
        },
        read: () => [],
      },
    });
    kernel.register(toolOf(() => runs++));
    slow = true;
    const controller = new AbortController();
    const result = kernel.call("subject", {}, { signal: controller.signal });
    await settle();
    controller.abort();
    recorded.resolve();
    expect(await result).toMatchObject({ ok: false, error: { code: "CANCELLED" } });
    expect(runs).toBe(0);
  });

  it("that cancels while the isolate is being opened starts nothing", async () => {
    let calls = 0;
    const opened = Promise.withResolvers<void>();
    const open: IsolateHost["open"] = async () => {
      await opened.promise;
      return {
        alive: true,
        terminate: () => {},
        async call() {
          calls++;
          return { kind: "returned", output: { form: "json", text: "1" } };
        },
      };
    };
    const host = hostOpening("slow", open, { sources: ["inline"] });
    const kernel = await createKernel({ host, policy: openPolicy });
    kernel.register(toolOf(() => 1));
    const controller = new AbortController();
    const result = kernel.call("subject", {}, { signal: controller.signal });
    await settle();
    controller.abort();
    opened.resolve();
    expect(await result).toMatchObject({ ok: false, error: { code: "CANCELLED" } });
    expect(calls).toBe(0);
  });
});
