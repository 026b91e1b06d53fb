import { InFlight, maxInFlight } from "./in-flight.ts";
import shell from "keyhole:./guest/shell.ts?esm";
import wasmShell from "keyhole:./guest/wasm-shell.ts?esm";
import type { IsolateLoader, LoadedTool, LoaderAnswer, ModuleStart } from "./loader.ts";
import { type Packet, packed } from "./packet.ts";
import { type Remote, remote } from "./remote.ts";

/** More than the kernel's pool keeps: reached only when a caller forgets to close. */
const maxIsolates = 256;

/** Not later than what the bundled workerd knows. */
const compatibilityDate = "2026-10-01";

/**
 * The dynamic Workers of one Durable Object, by id. The registry holds stubs: a Worker loaded under
 * a name stays in memory for good, while the platform collects a stub after its release. It is in a
 * Durable Object, because only there a stub may outlive the request that made it.
 */
export class IsolateRegistry implements IsolateLoader {
  readonly #loader: WorkerLoader;
  readonly #workers = new Map<string, WorkerStub>();
  readonly #inFlight = new InFlight(maxInFlight);
  readonly #announces: boolean;

  /** @param announces whether the guest announces the start of each call: where tools can hold up this process, and its kernel is in another one */
  constructor(loader: WorkerLoader, announces = false) {
    this.#loader = loader;
    this.#announces = announces;
  }

  async load(id: string, tool: LoadedTool): Promise<unknown> {
    const worker = this.#loader.load(workerCode(tool));
    this.#hold(id, worker);
    try {
      return await this.#inFlight.run(id, () => entry(worker).load(packed(startOf(tool))));
    } catch (error) {
      this.#workers.delete(id);
      const failure = startFailure(error) ?? loadEnd(error);
      if (failure === undefined) throw error;
      return failure;
    }
  }

  async call(id: string, call: Packet, target: object): Promise<LoaderAnswer> {
    const worker = this.#workers.get(id);
    if (worker === undefined) return { kind: "absent" };
    const outcome = await this.#inFlight.run(id, async () => {
      if (this.#announces) await remote<Announced>(target, ["begin"]).begin();
      return entry(worker).call(call, target);
    });
    return { kind: "answered", outcome };
  }

  async close(id: string): Promise<void> {
    // Its calls have ended, which their guests hear; without a stub the Worker is collected.
    this.#workers.delete(id);
    this.#inFlight.forget(id);
  }

  async holds(id: string): Promise<boolean> {
    return this.#workers.has(id);
  }

  async ping(): Promise<void> {}

  #hold(id: string, worker: WorkerStub): void {
    this.#workers.set(id, worker);
    const [oldest] = this.#workers.keys();
    if (this.#workers.size > maxIsolates && oldest !== undefined) this.#workers.delete(oldest);
  }
}

interface Announced {
  begin(): Promise<void>;
}

function workerCode({ code, cpuMs }: LoadedTool): WorkerLoaderWorkerCode {
  return {
    compatibilityDate,
    compatibilityFlags: ["no_nodejs_compat", "no_nodejs_compat_v2"],
    mainModule: "shell.js",
    modules: modulesOf(code),
    env: {},
    // Without this a dynamic Worker inherits the network of its parent.
    globalOutbound: null,
    limits: { cpuMs },
  };
}

function modulesOf(code: LoadedTool["code"]): WorkerLoaderWorkerCode["modules"] {
  if (typeof code === "string") return { "shell.js": shell, "tool.js": code };
  const { module } = code;
  if (module instanceof WebAssembly.Module) throw new TypeError("a compiled module does not cross to another isolate");
  return { "shell.js": wasmShell, "tool.wasm": { wasm: module.slice().buffer } };
}

function startOf({ code }: LoadedTool): ModuleStart | undefined {
  if (typeof code === "string") return undefined;
  const { args, environment, memoryBytes } = code;
  return { args, environment, memoryBytes };
}

/** The functions of the shell. The registry trusts none of their results. */
interface ShellEntry {
  load(start: Packet): Promise<unknown>;
  call(call: Packet, target: object): Promise<unknown>;
}

function entry(worker: WorkerStub): Remote<ShellEntry> {
  return remote<ShellEntry>(worker.getEntrypoint(), ["load", "call"]);
}

/** The platform ended this Worker alone: it computed for too long or took too much memory, or its module waits for what never comes. */
function loadEnd(error: unknown): object | undefined {
  const message = error instanceof Error ? error.message.slice(0, 500) : "";
  return /exceeded|code had hung/.test(message) ? { type: "load-failed", name: "Error", message } : undefined;
}

/** workerd compiles every module before a Worker starts: a tool's syntax error ends the start, with the text of an exception. */
function startFailure(error: unknown): object | undefined {
  const text = error instanceof Error ? error.message : "";
  const said = /^Failed to start Worker:\s*(?:Uncaught )?(?:(\w+): )?(.*)/.exec(text);
  if (said === null) return undefined;
  const [, name = "SyntaxError", message = ""] = said;
  return { type: "load-failed", name, message: message.slice(0, 500) };
}
