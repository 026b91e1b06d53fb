import { createKernel, defaultModeTriggers, type Kernel } from "@keyhole/kernel";
import { browserHost, exposeKernel, pageResources, remoteFrameContainer } from "@keyhole/worker-host/browser";
import { indexedDbSink } from "@keyhole/worker-host/sinks/indexeddb";
import saveNote from "keyhole:../tools/save-note.ts";
import wordCount from "keyhole:../tools/word-count.ts";
import policy from "../policy.json";

exposeKernel(start()); // The promise: calls that arrive early wait for it.

async function start(): Promise<Kernel> {
  const host = await browserHost({ container: remoteFrameContainer() });
  const resources = pageResources();
  const modeTriggers = defaultModeTriggers(resources);
  const kernel = await createKernel({ host, policy, sink: indexedDbSink(), resources, modeTriggers });
  for (const tool of [saveNote, wordCount]) {
    const registered = kernel.register(tool);
    if (!registered.ok) throw new Error(`${registered.error.message} ${registered.error.hint}`);
  }
  return kernel;
}
