import type { CallOptions, CallResult, Kernel, Tool } from "@keyhole/kernel";
import type { FakeClock } from "../support/fake-clock.ts";
import { toolOf } from "../support/kernel.ts";
import { hostOpening, packed } from "../support/module-host.ts";
import type { Scenario } from "./scenario.ts";

const waits = (more: Record<string, unknown> = {}): Tool<never, unknown> => toolOf(() => new Promise(() => {}), more);
const call = (kernel: Kernel, options: CallOptions = {}): Promise<CallResult> => kernel.call("subject", {}, options);

async function atDeadline(kernel: Kernel, clock: FakeClock): Promise<CallResult> {
  const pending = call(kernel);
  await clock.advance(10_000);
  return pending;
}

/** Deadlines that pass. */
export const timeouts: readonly Scenario[] = [
  { tools: [waits()], run: atDeadline },
  { tools: [waits({ idempotent: true })], run: atDeadline },
  {
    options: { host: hostOpening("slow", () => new Promise(() => {})) },
    tools: [packed(waits())],
    run: atDeadline,
  },
];

/** Tools whose deadlines pass again and again. */
export const setAsides: readonly Scenario[] = [
  {
    tools: [waits()],
    async run(kernel, clock) {
      for (let i = 0; i < 3; i++) await atDeadline(kernel, clock);
      return call(kernel);
    },
  },
  {
    tools: [waits({ bounds: { concurrency: 1 } })],
    // It has its slot, and its start is on record, when the third deadline passes.
    async run(kernel, clock) {
      const calls = Array.from({ length: 4 }, () => call(kernel, { waitMs: 60_000 }));
      await clock.advance(30_000);
      return calls[3]!;
    },
  },
];
