import { type Capability, createKernel } from "@keyhole/kernel";
import { inlineHost } from "@keyhole/kernel/inline";
import { recordingHost, type RunEntry } from "@keyhole/kernel/replay";
import { filesBroker, memoryStore } from "@keyhole/worker-host/brokers/files";
import { toolOf } from "./kernel.ts";

export type Execute = Parameters<typeof toolOf>[0];
export type Definition = { readonly capabilities?: readonly Capability[] } & Record<string, unknown>;

/** Calls of the recorded tool can reach this one. */
export const nested = toolOf((input: unknown) => input, { name: "nested" });

/** The entries that one call of a tool records, where policy grants everything that the tool declares. */
export async function recordedCall(execute: Execute, more: Definition = {}): Promise<readonly RunEntry[]> {
  const entries: RunEntry[] = [];
  const capabilities = more.capabilities ?? [];
  const kernel = await createKernel({
    host: recordingHost(inlineHost(), (entry) => entries.push(entry)),
    brokers: [filesBroker(memoryStore())],
    policy: {
      version: "1",
      posture: "permissive",
      grants: capabilities.map((capability) => ({ tool: "subject", capability })),
    },
  });
  kernel.registerTrusted(toolOf(execute, { determinism: "external", ...more }));
  kernel.registerTrusted(nested);
  await kernel.call("subject", {});
  await kernel.close();
  return entries;
}
