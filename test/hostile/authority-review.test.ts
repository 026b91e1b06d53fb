import { type AuditSink, type Broker, type Capability, memorySink, type Mode } from "@keyhole/kernel";
import { describe, expect, it } from "vitest";
import { settle } from "../support/fake-clock.ts";
import { granting, openKernel, openPolicy, toolOf } from "../support/kernel.ts";

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

describe("two changes at once, over a slow sink", () => {
  const hashOf = async (policy: unknown): Promise<string> => (await openKernel({ policy })).kernel.policyHash;

  it("of the policy: the last one stands, and each names the one before", async () => {
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

  it("of the mode: what is stricter holds from the moment that it was asked for", async () => {
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

describe("what an approver is shown", () => {
  const shown = async (declared: Capability, granted: Capability, narrowed?: Capability) => {
    let grants: readonly string[] = [];
    const { kernel } = await openKernel({
      policy: granting(granted),
      approver: async (request) => {
        ({ grants } = request);
        return { answer: "deny", approver: "ada" };
      },
    });
    const more = { capabilities: [declared], effects: ["net.read"], determinism: "external", approval: "always" };
    kernel.register(toolOf(() => 1, more));
    await kernel.call("subject", {}, narrowed ? { grants: [narrowed] } : {});
    return grants;
  };
  const net = (...hosts: string[]): Capability => ({ kind: "net.read", hosts });

  it("is never wider than the call: every layer that narrows is named", async () => {
    expect(await shown(net("*"), net("*.example.com"))).toEqual(["net.read *.example.com"]);
    expect(await shown(net("api.example.com"), net("*"))).toEqual(["net.read *, within net.read api.example.com"]);
    expect(await shown(net("*"), net("*.example.com"), net("*"))).toEqual([
      "net.read *, within net.read *.example.com",
    ]);
    expect(await shown(net("a.com"), net("a.com"), net("a.com"))).toEqual(["net.read a.com"]);
  });

  it("says in plain words why it is asked", async () => {
    let reason = "";
    const { kernel } = await openKernel({
      policy: { version: "1", posture: "standard" },
      approver: async (request) => {
        ({ reason } = request);
        return { answer: "deny", approver: "ada" };
      },
    });
    kernel.register(toolOf(() => 1, { tier: 2 }));
    await kernel.call("subject", {});
    expect(reason).toBe("The posture standard asks before it runs tools of tier 2 (elevated).");
  });
});

describe("the bytes of files in one call", () => {
  const broker: Broker = {
    kinds: ["fs.read", "fs.write"],
    needs: ({ kind, body }) => ({
      ok: true,
      needs: [{ kind: kind as "fs.write", path: "a", ...(body && { bytes: body.byteLength }) }],
    }),
    serve: async ({ kind }) =>
      kind === "fs.read" ? { ok: true, value: null, body: new Uint8Array(4) } : { ok: true, value: null },
  };
  const count = async (
    more: object,
    ask: (files: {
      read: (path: string) => Promise<unknown>;
      write: (path: string, data: string) => Promise<unknown>;
    }) => Promise<unknown>,
  ) => {
    const grants = (["fs.read", "fs.write"] as const).map((kind) => ({
      tool: "*",
      capability: { kind, paths: ["**"], ...more },
    }));
    const { kernel } = await openKernel({ policy: { ...openPolicy, grants }, brokers: [broker] });
    const capabilities = grants.map(({ capability: { kind } }) => ({ kind, paths: ["**"] }));
    kernel.register(
      toolOf(
        async (_, { files }: { files: never }) => {
          let done = 0;
          try {
            for (; done < 10; done++) await ask(files);
          } catch (error) {
            return [done, (error as { code?: string }).code];
          }
          return [done];
        },
        { capabilities, effects: ["fs.read", "fs.write"], determinism: "external" },
      ),
    );
    const result = await kernel.call("subject", {});
    return result.ok ? result.data : result.error;
  };

  it("end at the total, read and written apart", async () => {
    expect(await count({}, (files) => files.write("a", "1234"))).toEqual([10]);
    expect(await count({ totalBytes: 12 }, (files) => files.write("a", "1234"))).toEqual([3, "BOUNDS_EXCEEDED"]);
    expect(await count({ totalBytes: 11 }, (files) => files.write("a", "1234"))).toEqual([2, "BOUNDS_EXCEEDED"]);
    expect(await count({ totalBytes: 12 }, (files) => files.read("a"))).toEqual([3, "BOUNDS_EXCEEDED"]);
    const both = await count({ totalBytes: 8 }, async (files) => {
      await files.read("a");
      await files.write("a", "1234");
    });
    expect(both).toEqual([2, "BOUNDS_EXCEEDED"]);
  });
});
