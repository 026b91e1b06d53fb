/**
 * The shell of a worker thread. It speaks the protocol of the browser's shell and seals its realm in the same way, so that a tool gives the same
 * results here; it does not confine anything: `import("node:fs")` still works in a thread, which is why only trusted tools run in one.
 */
import { runCall, thrownOutcome } from "@keyhole/kernel";
import { openUplink, seal, type Uplink } from "../guest/index.ts";
import type { GuestMessage, HostMessage } from "../protocol/message.ts";

// Without an import: the shell is bundled, like every other shell, into text that names no platform.
const { parentPort } = process.getBuiltinModule("node:worker_threads");
const encode = Buffer.from.bind(Buffer) as (text: string) => Buffer;

const uplinks = new Map<string, Uplink>();
let tool: unknown;

if (parentPort) {
  const post = parentPort.postMessage.bind(parentPort) as (message: GuestMessage, transfer?: ArrayBuffer[]) => void;
  // What Node's own `Response` looks up by name when a body is read.
  const realm = seal(globalThis, { keep: ["Buffer"] });

  const handlers = {
    async load({ code }) {
      try {
        const module = (await import(
          /* @vite-ignore */ `data:text/javascript;base64,${encode(code).toString("base64")}`
        )) as { readonly default?: unknown };
        tool = module.default;
        post({ type: "loaded" });
      } catch (thrown) {
        const { name, message } = thrownOutcome(thrown);
        post({ type: "load-failed", name, message });
      }
    },
    async call({ call }) {
      const { callId } = call;
      const uplink = openUplink(callId, post);
      uplinks.set(callId, uplink);
      const outcome = await runCall(tool, call, uplink.transport, realm);
      uplink.close();
      uplinks.delete(callId);
      const output = outcome.kind === "returned" ? outcome.output : undefined;
      post(
        { type: "outcome", callId, outcome } as GuestMessage,
        output?.form === "binary" ? [output.bytes.buffer as ArrayBuffer] : [],
      );
    },
    cancel: ({ callId }) => uplinks.get(callId)?.cancel(),
    reply: ({ callId, request, reply }) => uplinks.get(callId)?.reply(request, reply),
  } satisfies {
    readonly [Type in HostMessage["type"]]: (message: Extract<HostMessage, { type: Type }>) => void | Promise<void>;
  };

  parentPort.on("message", (message: HostMessage) => void handlers[message.type](message as never));
  post({ type: "ready", imports: true, wasm: true });
}
