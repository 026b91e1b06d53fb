import { type IsolateLoader, IsolateRegistry } from "@keyhole/edge";

type Modules = WorkerLoaderWorkerCode["modules"];

/**
 * Runs in dynamic Workers what the host would refuse because it imports, and what takes the shell's place: to see what holds behind that check. The host is given a
 * name for it.
 *
 * @example
 * const { loader, nameOf } = uncheckedCode(bindings.LOADER);
 * await edgeHost({ loader }).open(moduleOf(nameOf(`import "./shell.js";`)));
 */
export function uncheckedCode(binding: WorkerLoader): {
  readonly loader: IsolateLoader;
  readonly nameOf: (code: string) => string;
  /** Of a module that is there instead of the shell. */
  readonly nameOfShell: (code: string) => string;
} {
  const named = new Map<unknown, Modules>();
  const nameIt = (modules: Modules): string => {
    const name = `unchecked ${named.size}`;
    named.set(name, modules);
    return name;
  };
  const loader = new IsolateRegistry({
    get: (name, getCode) => binding.get(name, getCode),
    load: (code) => binding.load({ ...code, modules: { ...code.modules, ...named.get(code.modules["tool.js"]) } }),
  });
  return {
    loader,
    nameOf: (code) => nameIt({ "tool.js": code }),
    nameOfShell: (code) => nameIt({ "shell.js": code, "tool.js": "export default {};" }),
  };
}

/** The shell that a guest would have in the place of ours: `call` and `target` are in reach of the deed. */
export const usurper = (deed: string): string => `
  import { WorkerEntrypoint } from "cloudflare:workers";
  export default class extends WorkerEntrypoint {
    async load() { return { type: "loaded" }; }
    async call(call, target) { const { callId } = call; ${deed} }
  }
`;
