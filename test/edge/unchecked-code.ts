import type { IsolateLoader, LoadedTool } from "@keyhole/edge";

/**
 * Runs code in dynamic Workers that the host would refuse because it imports: to see what holds behind that check. The host is given a name for it.
 *
 * @example
 * const { loader, nameOf } = uncheckedCode(new IsolateRegistry(bindings.LOADER));
 * await edgeHost({ loader }).open(moduleOf(nameOf(`import "./shell.js";`)));
 */
export function uncheckedCode(registry: IsolateLoader): {
  readonly loader: IsolateLoader;
  readonly nameOf: (code: string) => string;
} {
  const codes = new Map<unknown, string>();
  const named = (tool: LoadedTool): LoadedTool => ({ ...tool, code: codes.get(tool.code) ?? tool.code });
  return {
    loader: {
      load: (id, tool) => registry.load(id, named(tool)),
      call: (id, call, target) => registry.call(id, call, target),
      close: (id) => registry.close(id),
      holds: (id) => registry.holds(id),
      ping: () => registry.ping(),
    },
    nameOf(code) {
      const name = `unchecked ${codes.size}`;
      codes.set(name, code);
      return name;
    },
  };
}
