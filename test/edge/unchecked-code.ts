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

/**
 * The shell that a guest would have in the place of ours: `callId` and `target` are in reach of the deed. `pack` makes the packets of a shell, and throws for what those cannot
 * hold; `unpack` reads one without parts.
 */
export const usurper = (deed: string): string => `
  import { WorkerEntrypoint } from "cloudflare:workers";
  const isData = (value) => value === null || ["number", "boolean"].includes(typeof value) || Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype;
  const pack = (message) => {
    const parts = [];
    const json = JSON.stringify(structuredClone(message), function (key) {
      const value = this[key]; // Before its toJSON.
      if (typeof value === "string") return "=" + value;
      if (value instanceof Uint8Array) return parts.push(value), "b";
      if (isData(value) && !Number.isNaN(value)) return value;
      throw new TypeError("no data");
    });
    return { json: new TextEncoder().encode(json), parts };
  };
  const unpack = ({ json }) =>
    JSON.parse(new TextDecoder().decode(json), (_, value) => (typeof value === "string" ? value.slice(1) : value));
  export default class extends WorkerEntrypoint {
    async load() { return { type: "loaded" }; }
    async call(call, target) { const { callId } = unpack(call); ${deed} }
  }
`;
