import { type AuditSink, createKernel, type Kernel, type KernelOptions } from "@keyhole/kernel";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { registerAny } from "../support/registered.ts";
import { sized } from "../support/size.ts";
import { deeds, dying, failingHost, outcomeOf, scenarios, tools, underKey } from "./state/scenarios.ts";

/** One store, which outlives the kernels on it. */
export interface StateSubject {
  /** As a process that begins. */
  open(): AuditSink | Promise<AuditSink>;
  /** As a process that is killed: nothing of the kernel is told. */
  kill(): void | Promise<void>;
}

/** What every store of a log must do for what governs: a kernel that opens decides as the one before it would have. */
export function describeState(name: string, make: () => StateSubject | Promise<StateSubject>): void {
  describe(`the state that governs, in ${name},`, () => {
    let subject: StateSubject;
    beforeEach(async () => {
      subject = await make();
      deeds.done = 0;
    });
    afterEach(() => subject.kill());

    const kernelWith = async (options: KernelOptions = {}): Promise<Kernel> => {
      const kernel = await createKernel({ sink: await subject.open(), ...options });
      for (const tool of tools) expect(registerAny(kernel, tool)).toMatchObject({ ok: true });
      if (options.host) expect(kernel.register(dying)).toMatchObject({ ok: true });
      return kernel;
    };

    it.each(scenarios)("outlives its kernel: $title", async ({ options, govern, decide, expected }) => {
      const first = await kernelWith(options());
      await govern(first);
      expect(await decide(first)).toBe(expected);
      await subject.kill();
      const second = await kernelWith(options());
      expect(await decide(second)).toBe(expected);
      await subject.kill();
      expect(await decide(await kernelWith(options()))).toBe(expected);
    });

    it.each([
      ["deed", 10],
      ["breaks", 10],
      ["deed", sized(1_050, 20_000)],
    ] as const)("keeps a key that was used %s, %d events back", async (tool, events) => {
      const policy = { version: "1", posture: "standard" } as const;
      if (name === "memory" && events > 1_000) return;
      const first = await kernelWith({ policy });
      const before = await underKey(first, tool);
      for (let i = 0; i < events; i += 500)
        await Promise.all(
          Array.from({ length: Math.min(100, events / 5) }, () => outcomeOf(first, "echo", { message: "x" })),
        );
      await subject.kill();
      const second = await kernelWith({ policy });
      expect([before, "INVALID_INPUT"]).toContain(await underKey(second, tool));
      expect(deeds.done).toBe(1);
      expect(second.mode).toBe("NORMAL");
    });

    it("keeps a tool in quarantine", async () => {
      const options = { host: failingHost(), policy: { version: "1", posture: "standard" } };
      const first = await kernelWith(options);
      for (let i = 0; i < 3; i++) await outcomeOf(first, "dying");
      const quarantineOf = (kernel: Kernel): unknown => kernel.list({ text: "dying" })[0]?.quarantine?.callers;
      expect(quarantineOf(first)).toBe(1);
      await subject.kill();
      expect(quarantineOf(await kernelWith(options))).toBe(1);
    });
  });
}
