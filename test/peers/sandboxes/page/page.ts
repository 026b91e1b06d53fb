// Runs in a page of its own for each figure: `#NAME/WHAT`. The figure goes to the process that opened the page.
import { IframeSandboxExecutor } from "@cloudflare/codemode/browser";
import { browserHost } from "@keyhole/worker-host/browser";
import { keyhole } from "../keyhole.ts";
import { cold, held, type Sandbox, SPIN_LIMIT_MS, stopped, warm } from "../sandbox.ts";

/** A worker as it is. It can fetch, and store. */
const worker: Sandbox = {
  async open() {
    const source = "onmessage = ({ data }) => { while (data.spins); postMessage(data); };";
    const url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
    const own = new Worker(url);
    return {
      call: (value) =>
        new Promise((resolve) => {
          own.onmessage = ({ data }) => resolve(data);
          own.postMessage(value);
        }),
      async spin() {
        own.postMessage({ spins: true });
        await new Promise((resolve) => {
          setTimeout(resolve, SPIN_LIMIT_MS);
        });
        own.terminate();
      },
      close: () => own.terminate(),
    };
  },
};

/** A frame for each program. */
const codemode: Sandbox = {
  async open() {
    const executor = new IframeSandboxExecutor({ timeout: 30_000 });
    let release = (): void => {};
    return {
      async call(value) {
        const { result, error } = await executor.execute(`async () => (${JSON.stringify(value)})`, {});
        if (error !== undefined) throw new Error(error);
        return result;
      },
      spin: () => new IframeSandboxExecutor({ timeout: SPIN_LIMIT_MS }).execute("async () => { for (;;); }", {}),
      hold: () =>
        new Promise<void>((isHeld) => {
          const waits = (): Promise<unknown> => {
            isHeld();
            return new Promise<void>((resolve) => (release = resolve));
          };
          void executor.execute("async () => codemode.waits()", { waits });
        }),
      close: () => release(),
    };
  },
};

const sandboxes: Readonly<Record<string, Sandbox>> = { keyhole: keyhole(() => browserHost()), codemode, worker };
const [name = "", what = ""] = location.hash.slice(1).split("/");
const sandbox = sandboxes[name]!;
const figure =
  what === "cold"
    ? cold(sandbox)
    : what === "warm"
      ? warm(sandbox)
      : what === "stop"
        ? stopped(sandbox)
        : held(sandbox, Number(what)).then((all) => all.length);
Object.assign(globalThis, { figure: await figure });
