import { readFileSync, writeFileSync } from "node:fs";
import { type AuditEvent, type CallResult, createKernel, type Kernel } from "@keyhole/kernel";
import { callSuspender } from "@keyhole/kernel/suspend";
import { fileSink, nodeHost } from "@keyhole/worker-host/node";
import { guarded, patient, policy, relaying, slowFiles, testKey } from "../support/suspension.ts";

/** What one of several processes, which share a folder and nothing else, has to do. */
export interface Errand {
  readonly folder: string;
  /** `whole`: everything in one process, for comparison. */
  readonly does: "suspend" | "resume" | "whole";
}

export interface Done {
  readonly results: readonly CallResult[];
  readonly events: readonly AuditEvent[];
}

/** A call of an agent that waits for a person in a call of its own, and one that waits for a broker. */
const calls = [
  { tool: "relaying", input: { tool: "guarded", input: { amount: 12 } } },
  { tool: "patient", input: {} },
];

export default async function errand({ folder, does }: Errand): Promise<Done> {
  const asked = Promise.withResolvers<void>();
  const files = await slowFiles(does !== "suspend");
  const kernel = await createKernel({
    host: nodeHost(),
    sink: fileSink(`${folder}/${does === "whole" ? "whole" : "log"}.jsonl`),
    policy,
    brokers: [files],
    suspender: callSuspender({ key: testKey }),
    approver: async () => {
      if (does !== "suspend") return { answer: "allow", scope: "once", approver: "ada" };
      asked.resolve();
      return new Promise(() => {});
    },
  });
  for (const tool of [relaying, guarded, patient]) kernel.register(tool);
  const results = does === "resume" ? await resumeAll(kernel, folder) : await callAll(kernel);
  const events = await kernel.audit.read();
  await kernel.close();
  return { results, events };

  async function callAll(made: Kernel): Promise<CallResult[]> {
    const ids: string[] = [];
    const onEvent = ({ type, callId, payload }: AuditEvent): void => {
      if (type === "call.invoked" && payload.parentCallId === null) ids.push(callId!);
    };
    const underway = calls.map(({ tool, input }) => made.call(tool, input, { sessionId: tool, onEvent }));
    if (does === "suspend") {
      await Promise.all([asked.promise, files.untilAsked("read a", "read b")]);
      for (const callId of ids) {
        const suspension = await made.suspend(callId, { waitMs: 0 });
        if (!suspension.ok) throw new Error(suspension.error.message);
        writeFileSync(`${folder}/${suspension.tool}`, suspension.bytes);
      }
    }
    return Promise.all(underway);
  }
}

function resumeAll(kernel: Kernel, folder: string): Promise<CallResult[]> {
  return Promise.all(calls.map(({ tool }) => kernel.resume(readFileSync(`${folder}/${tool}@1.0.0`))));
}
