import { type Broker, createKernel, limits } from "@keyhole/kernel";
import { expect, it } from "vitest";
import { FakeClock } from "../support/fake-clock.ts";
import { granting, toolOf } from "../support/kernel.ts";

it("a clock that was revoked is logical for calls that begin later, where the tool can do without", async () => {
  const watcher = toolOf((_, { now }: { now: () => number }) => now(), {
    determinism: "nondeterministic",
    capabilities: [{ kind: "clock", optional: true }],
  });
  const clock = new FakeClock();
  const policy = granting({ kind: "clock" });
  const kernel = await createKernel({ clock, policy });
  kernel.register(watcher);
  expect(await kernel.call("subject", {})).not.toMatchObject({ data: clock.now() });
  await kernel.grants.revoke({ tool: "subject", kinds: ["clock"] }, "It watches.");
  expect(await kernel.call("subject", {})).toMatchObject({ data: clock.now() });
});

it("a call that does not run again, because the policy changed meanwhile, holds nothing afterwards", async () => {
  const clock = new FakeClock();
  const policy = granting({ kind: "fs.read", paths: ["**"] });
  const away: Broker = {
    kinds: ["fs.read"],
    needs: () => ({ ok: true, needs: [{ kind: "fs.read", path: "a" }] }),
    serve: async () => ({ ok: false, error: { code: "UNAVAILABLE", message: "Away.", hint: "" } }),
  };
  const kernel = await createKernel({ clock, policy, brokers: [away] });
  const reads = (_: never, { files }: { files: { read(path: string): Promise<unknown> } }) => files.read("a");
  kernel.register(
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
