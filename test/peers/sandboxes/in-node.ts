// One sandbox in a process of its own: `node in-node.ts NAME [cold | warm | stop | memory]…`. Prints a number for each.
import { Worker } from "node:worker_threads";
import { cold, held, HELD, type Opened, type Sandbox, SPIN_LIMIT_MS, stopped, warm } from "./sandbox.ts";

const sleep = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms);
  });

/** A thread as it is. It can do all that the process can. */
const thread: Sandbox = {
  async open() {
    const source = `const { parentPort: port } = require("node:worker_threads");
      port.on("message", (value) => { while (value.spins); port.postMessage(value); });`;
    const worker = new Worker(source, { eval: true });
    return {
      call: (value) =>
        new Promise((resolve) => {
          worker.once("message", resolve);
          worker.postMessage(value);
        }),
      async spin() {
        worker.postMessage({ spins: true });
        await sleep(SPIN_LIMIT_MS);
        await worker.terminate();
      },
      close: () => worker.terminate(),
    };
  },
};

/** The engine in this thread. A value goes in and comes out as JSON text. */
async function quickJs(): Promise<Sandbox> {
  const { getQuickJS, shouldInterruptAfterDeadline } = await import("quickjs-emscripten");
  const library = await getQuickJS();
  return {
    async open() {
      const runtime = library.newRuntime();
      const context = runtime.newContext();
      const source = "(text) => { const value = JSON.parse(text); while (value.spins); return JSON.stringify(value); }";
      const program = context.unwrapResult(context.evalCode(source));
      return {
        async call(value) {
          const text = context.newString(JSON.stringify(value));
          const result = context.unwrapResult(context.callFunction(program, context.undefined, text));
          const answer = context.getString(result);
          text.dispose();
          result.dispose();
          return JSON.parse(answer) as unknown;
        },
        async spin() {
          runtime.setInterruptHandler(shouldInterruptAfterDeadline(Date.now() + SPIN_LIMIT_MS));
          const text = context.newString('{"spins":true}');
          const result = context.callFunction(program, context.undefined, text);
          text.dispose();
          if (!result.error) throw new Error("The loop ended.");
          result.error.dispose();
        },
        close() {
          program.dispose();
          context.dispose();
          runtime.dispose();
        },
      };
    },
  };
}

/** A worker and an engine for each program. */
async function aiSdk(): Promise<Sandbox> {
  const { experimental_runCodeMode: runCodeMode } = await import("@ai-sdk/code-mode");
  const { tool } = await import("ai");
  const { z } = await import("zod");
  const options = { executionPolicy: { timeoutMs: SPIN_LIMIT_MS } };
  const releases: (() => void)[] = [];
  return {
    open: async () => ({
      call: (value) => runCodeMode({ js: `return ${JSON.stringify(value)};`, tools: {} }),
      async spin() {
        const ended = runCodeMode({ js: "for (;;);", tools: {}, options });
        const wasStopped = await ended.then(() => false).catch(() => true);
        if (!wasStopped) throw new Error("The loop ended.");
      },
      hold: () =>
        new Promise<void>((isHeld) => {
          const waits = tool({
            inputSchema: z.object({}),
            execute: () => {
              isHeld();
              return new Promise<void>((resolve) => releases.push(resolve));
            },
          });
          void runCodeMode({ js: "await tools.waits({});", tools: { waits } });
        }),
      close: () => releases.pop()?.(),
    }),
  };
}

async function ours(isTrusted: boolean): Promise<Sandbox> {
  const { nodeHost } = await import("@keyhole/worker-host/node");
  const { keyhole, trusted } = await import("./keyhole.ts");
  return keyhole(() => nodeHost(isTrusted ? { trusted } : {}));
}

const sandboxes: Readonly<Record<string, () => Promise<Sandbox> | Sandbox>> = {
  keyhole: () => ours(false),
  "keyhole-trusted": () => ours(true),
  "quickjs-emscripten": quickJs,
  "ai-sdk": aiSdk,
  thread: () => thread,
};

async function memoryBytes(sandbox: Sandbox): Promise<number> {
  const keep: Opened[][] = [[...(await held(sandbox, 2))]];
  globalThis.gc?.();
  const before = process.memoryUsage.rss();
  keep.push([...(await held(sandbox, HELD))]);
  globalThis.gc?.();
  const bytes = (process.memoryUsage.rss() - before) / HELD;
  for (const each of keep.flat()) await each.close();
  return bytes;
}

const figureOf: Readonly<Record<string, (sandbox: Sandbox) => Promise<number>>> = {
  cold,
  warm,
  stop: stopped,
  memory: memoryBytes,
};
const [name = "", ...whats] = process.argv.slice(2);
const sandbox = await sandboxes[name]!();
const figures: number[] = [];
for (const what of whats) figures.push(await figureOf[what]!(sandbox));
process.stdout.write(`${figures.join(" ")}\n`, () => process.exit());
