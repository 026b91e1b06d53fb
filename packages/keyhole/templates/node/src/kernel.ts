import { readFileSync } from "node:fs";
import { type Approver, type AuditSink, createKernel, defaultModeTriggers, type Kernel } from "@keyhole/kernel";
import { nodeHost, nodeResources } from "@keyhole/worker-host/node";
import saveNote from "../dist/save-note.json" with { type: "json" };
import wordCount from "../dist/word-count.json" with { type: "json" };

export interface Options {
  readonly approver: Approver;
  /** The folder of the notes. Default: memory. */
  readonly files?: string;
  /** Where the audit log goes. Default: memory. */
  readonly sink?: AuditSink;
}

/** A kernel with the tools of this project, under its policy. Each tool runs in an interpreter of its own. */
export async function openKernel({ approver, files, sink }: Options): Promise<Kernel> {
  const policy: unknown = JSON.parse(readFileSync(new URL("../policy.json", import.meta.url), "utf8"));
  const host = nodeHost(files === undefined ? {} : { files });
  const resources = nodeResources();
  const modeTriggers = defaultModeTriggers(resources);
  const kernel = await createKernel({ host, policy, approver, resources, modeTriggers, ...(sink && { sink }) });
  for (const tool of [saveNote, wordCount]) {
    const registered = kernel.register(tool);
    if (!registered.ok) throw new Error(`${registered.error.message} ${registered.error.hint}`);
  }
  return kernel;
}
