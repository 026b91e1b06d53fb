/**
 * The shell of a worker thread. It speaks the protocol of the browser's shell and hardens its realm
 * in the same way, so a tool gives the same results here. It does not confine code:
 * `import("node:fs")` still works in a thread. So only trusted tools run in one.
 */
import { dispatcher, type ShellParts } from "../guest/dispatch.ts";
import { hardenRealm } from "../guest/harden/realm.ts";
import type { HostMessage } from "../protocol/message.ts";

// Without an import: the shell is bundled, like every other shell, into text that names no platform.
const { parentPort } = process.getBuiltinModule("node:worker_threads");
const { setImmediate } = globalThis;
const encode = Buffer.from.bind(Buffer) as (text: string) => Buffer;

if (parentPort) {
  const post = parentPort.postMessage.bind(parentPort) as ShellParts["post"];
  const realm = hardenRealm(globalThis);
  const whenIdle = (then: () => void): void => void setImmediate(then);
  const dispatch = dispatcher({ post, realm, importText, whenIdle });
  parentPort.on("message", (message: HostMessage) => dispatch(message));
  post({ type: "ready", imports: true, wasm: true });
}

async function importText(code: string): Promise<{ readonly default?: unknown }> {
  const url = `data:text/javascript;base64,${encode(code).toString("base64")}`;
  return (await import(/* @vite-ignore */ url)) as { readonly default?: unknown };
}
