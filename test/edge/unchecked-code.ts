import type { IsolateLoader, LoadedTool } from "@keyhole/edge";

/**
 * Runs code in dynamic Workers that the host would refuse because it imports: to see what holds behind that check. The host is given a name for it.
 *
 * @example
 * const { loader, nameOf } = uncheckedCode(new IsolateRack(bindings.LOADER));
 * await edgeHost({ loader }).open(moduleOf(nameOf(`import "./shell.js";`)));
 */
export function uncheckedCode(rack: IsolateLoader): {
  readonly loader: IsolateLoader;
  readonly nameOf: (code: string) => string;
} {
  const codes = new Map<unknown, string>();
  const named = (tool: LoadedTool): LoadedTool => ({ ...tool, code: codes.get(tool.code) ?? tool.code });
  return {
    loader: {
      load: (id, tool) => rack.load(id, named(tool)),
      call: (id, call, target) => rack.call(id, call, target),
      close: (id) => rack.close(id),
      holds: (id) => rack.holds(id),
      ping: () => rack.ping(),
    },
    nameOf(code) {
      const name = `unchecked ${codes.size}`;
      codes.set(name, code);
      return name;
    },
  };
}
