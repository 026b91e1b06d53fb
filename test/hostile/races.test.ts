import {
  type AuditSink,
  type Broker,
  createKernel,
  type IsolateHost,
  limits,
  memorySink,
  type Mode,
} from "@keyhole/kernel";
import { fsRead } from "@keyhole/kernel/families";
import { describe, expect, it } from "vitest";
import { FakeClock, settle } from "../support/fake-clock.ts";
import { granting, openKernel, openPolicy, toolOf } from "../support/kernel.ts";
import { hostOpening } from "../support/module-host.ts";

/*
 * A change that comes while a call starts, runs or waits, or after its end.
 */

describe("a caller that cancels", () => {
  it("while the start is being recorded starts nothing", async () => {
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
    kernel.registerTrusted(toolOf(() => runs++));
    slow = true;
    const controller = new AbortController();
    const result = kernel.call("subject", {}, { signal: controller.signal });
    await settle();
    controller.abort();
    recorded.resolve();
    expect(await result).toMatchObject({ ok: false, error: { code: "CANCELLED" } });
    expect(runs).toBe(0);
  });

  it("while the isolate opens starts nothing", async () => {
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
    kernel.registerTrusted(toolOf(() => 1));
    const controller = new AbortController();
    const result = kernel.call("subject", {}, { signal: controller.signal });
    await settle();
    controller.abort();
    opened.resolve();
    expect(await result).toMatchObject({ ok: false, error: { code: "CANCELLED" } });
    expect(calls).toBe(0);
  });
});

/** A sink whose writes wait to be let through, one by one and in any order the sink likes. */
function gatedSink(): AuditSink & { readonly letThrough: () => void } {
  const inner = memorySink();
  const waiting: (() => void)[] = [];
  let isOpen = false;
  return {
    ...inner,
    letThrough: () => {
      isOpen = true;
      for (const each of waiting.splice(0)) each();
    },
    append: async (events) => {
      if (!isOpen) await new Promise<void>((resolve) => waiting.push(resolve));
      return inner.append(events);
    },
  };
}

describe("concurrent changes over a slow sink", () => {
  const hashOf = async (policy: unknown): Promise<string> => (await openKernel({ policy })).kernel.policyHash;

  it("of the policy end with the last one, and each record names its predecessor", async () => {
    const sink = gatedSink();
    const { kernel, events } = await openKernel({ sink });
    const documents = (["strict", "standard", "permissive"] as const).map((posture) => ({
      version: "1",
      posture,
      rules: [],
    }));
    const changes = documents.map((document) => kernel.setPolicy(document));
    const before = kernel.policyHash;
    sink.letThrough();
    await Promise.all(changes);
    const hashes = await Promise.all(documents.map(hashOf));
    expect(kernel.policyHash).toBe(hashes.at(-1));
    const recorded = (await events()).filter(({ type }) => type === "policy.changed").map(({ payload }) => payload);
    expect(recorded).toEqual(
      hashes.map((policyHash, index) => ({ policyHash, previousHash: hashes[index - 1] ?? before })),
    );
  });

  it("of the mode apply a stricter mode at once", async () => {
    const sink = gatedSink();
    const { kernel, events } = await openKernel({ sink, mode: "LOCKDOWN" });
    const seen: Mode[] = [];
    const changes = (["NORMAL", "LOCKDOWN", "ALERT", "DEGRADED"] as const).map(async (mode) => {
      await kernel.setMode(mode, mode);
      seen.push(kernel.mode);
    });
    await settle();
    expect(kernel.mode).toBe("LOCKDOWN");
    sink.letThrough();
    await Promise.all(changes);
    // NORMAL was asked for, but LOCKDOWN after it: at no time did anything looser hold.
    expect(seen).toEqual(["LOCKDOWN", "LOCKDOWN", "DEGRADED", "DEGRADED"]);
    const recorded = (await events()).flatMap((event) =>
      event.type === "mode.changed" ? [`${event.payload.previous} ${event.payload.mode}`] : [],
    );
    expect(recorded).toEqual(["LOCKDOWN NORMAL", "NORMAL LOCKDOWN", "LOCKDOWN ALERT", "ALERT DEGRADED"]);
  });
});

describe("a revoked clock", () => {
  it("gives later calls a logical clock where the clock was optional", async () => {
    const watcher = toolOf((_, { now }: { now: () => number }) => now(), {
      determinism: "nondeterministic",
      capabilities: [{ kind: "clock", optional: true }],
    });
    const clock = new FakeClock();
    const policy = granting({ kind: "clock" });
    const kernel = await createKernel({ clock, policy });
    kernel.registerTrusted(watcher);
    expect(await kernel.call("subject", {})).not.toMatchObject({ data: clock.now() });
    await kernel.grants.revoke({ tool: "subject", kinds: ["clock"] }, "It watches.");
    expect(await kernel.call("subject", {})).toMatchObject({ data: clock.now() });
  });
});

describe("a call that waits for its next attempt", () => {
  it("holds no grant after a change of the policy ended its retries", async () => {
    const clock = new FakeClock();
    const policy = granting({ kind: "fs.read", paths: ["**"] });
    const away: Broker = {
      families: [fsRead],
      needs: () => ({ ok: true, needs: [{ kind: "fs.read", path: "a" }] }),
      serve: async () => ({ ok: false, error: { code: "UNAVAILABLE", message: "Away.", hint: "" } }),
    };
    const kernel = await createKernel({ clock, policy, brokers: [away] });
    const reads = (_: never, { files }: { files: { read(path: string): Promise<unknown> } }) => files.read("a");
    kernel.registerTrusted(
      toolOf(reads, {
        effects: ["fs.read"],
        determinism: "external",
        capabilities: [{ kind: "fs.read", paths: ["**"] }],
        idempotent: true,
      }),
    );
    const call = kernel.call("subject", {});
    await clock.advance(limits.retryMs / 2);
    await kernel.setPolicy({ ...policy, posture: "standard" });
    await clock.advance(limits.retryMs);
    expect(await call).toMatchObject({ ok: false, error: { code: "POLICY_DENIED" } });
    expect(await kernel.grants.revoke({ tool: "subject" }, "Who holds anything?")).toMatchObject({ calls: 0 });
  });
});

describe("a tool of this realm", () => {
  it("reaches no listener after the end of its call", async () => {
    const heard: unknown[] = [];
    let speak = (): void => {};
    const { kernel } = await openKernel();
    kernel.registerTrusted(
      toolOf((_, context: { log(text: string): void; progress(done: object): void }) => {
        speak = () => {
          context.log("late");
          context.progress({ done: 1 });
        };
        return 1;
      }),
    );
    const listen = (said: unknown): void => void heard.push(said);
    await kernel.call("subject", {}, { onLog: listen, onProgress: listen });
    speak();
    expect(heard).toEqual([]);
  });
});
