import {
  type AuditEvent,
  type Capability,
  createKernel,
  defineTool,
  type Kernel,
  type KernelOptions,
  type PolicyDocument,
  terminalTypes,
  verifyChain,
} from "@keyhole/kernel";
import { expect } from "vitest";
import { FakeClock } from "./fake-clock.ts";

/** Everything but tier 4 runs: for tests whose subject is not the policy. */
export const openPolicy = { version: "1", posture: "permissive" } as const;

/** The same, and every tool is granted these. */
export function granting(...capabilities: readonly Capability[]): PolicyDocument {
  return { ...openPolicy, grants: capabilities.map((capability) => ({ tool: "*", capability })) };
}

export const echo = defineTool({
  name: "echo",
  version: "1.0.0",
  description: "Returns its message.",
  input: {
    type: "object",
    properties: { message: { type: "string" } },
    required: ["message"],
    additionalProperties: false,
  },
  output: {
    kind: "json",
    schema: { type: "object", properties: { message: { type: "string" } }, required: ["message"] },
  },
  execute: ({ message }) => ({ message }),
});

export interface Bench {
  readonly kernel: Kernel;
  readonly clock: FakeClock;
  readonly events: () => Promise<readonly AuditEvent[]>;
}

export async function openKernel(options: KernelOptions = {}): Promise<Bench> {
  const clock = new FakeClock();
  const kernel = await createKernel({ policy: openPolicy, clock, ...options });
  return { kernel, clock, events: () => kernel.audit.read() };
}

/** A tool without an interesting schema around one function. */
export function toolOf(
  execute: (input: never, context: never) => unknown,
  more: Record<string, unknown> = {},
): ReturnType<typeof defineTool> {
  const definition = {
    name: "subject",
    version: "1.0.0",
    description: "Under test.",
    input: { type: "object" },
    output: { kind: "json" },
    execute,
    ...more,
  };
  return defineTool(definition as unknown as Parameters<typeof defineTool>[0]);
}

/** The log is whole, and every call in it has exactly one end, which comes last. */
export async function expectSoundLog(kernel: Kernel): Promise<void> {
  const events = await kernel.audit.read();
  expect(verifyChain(events)).toMatchObject({ ok: true });
  const byCall = Map.groupBy(
    events.filter(({ callId }) => callId !== null),
    ({ callId }) => callId,
  );
  for (const [callId, ofCall] of byCall) {
    const ends = ofCall.filter(({ type }) => terminalTypes.includes(type));
    expect(ends, `ends of ${callId}`).toHaveLength(1);
    expect(ofCall.at(-1)).toBe(ends[0]);
  }
}
