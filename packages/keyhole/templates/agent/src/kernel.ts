import { readFileSync } from "node:fs";
import { type Approver, type AuditSink, createKernel, defaultModeTriggers, type Kernel } from "@keyhole/kernel";
import { recordingHost, type RunEntry } from "@keyhole/kernel/replay";
import { nodeHost, nodeResources } from "@keyhole/worker-host/node";
import {
  calculator,
  hash,
  kvGet,
  kvPut,
  listDirectory,
  readFile,
  runCode,
  writeFile,
} from "@keyhole/worker-host/tools";
import saveNote from "../dist/save-note.json" with { type: "json" };
import wordCount from "../dist/word-count.json" with { type: "json" };

const tools = [calculator, hash, kvGet, kvPut, listDirectory, readFile, runCode, saveNote, wordCount, writeFile];

export interface Options {
  readonly approver: Approver;
  /** Takes what a replay needs: inputs, requests and answers in full. */
  readonly record: (entry: RunEntry) => void;
  /** The folder of the files. Default: memory. */
  readonly files?: string;
  /** Where the audit log goes. Default: memory. */
  readonly sink?: AuditSink;
}

/** A kernel with ten tools, under the policy of this project. Each tool runs in an interpreter of its own. */
export async function openKernel({ approver, record, files, sink }: Options): Promise<Kernel> {
  const policy: unknown = JSON.parse(readFileSync(new URL("../policy.json", import.meta.url), "utf8"));
  const host = recordingHost(nodeHost(files === undefined ? {} : { files }), record);
  const resources = nodeResources();
  const modeTriggers = defaultModeTriggers(resources);
  const kernel = await createKernel({
    host,
    policy,
    approver,
    resources,
    modeTriggers,
    ...(sink && { sink }),
  });
  for (const tool of tools) {
    const registered = kernel.register(tool);
    if (!registered.ok) throw new Error(`${registered.error.message} ${registered.error.hint}`);
  }
  return kernel;
}
