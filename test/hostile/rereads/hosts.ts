import {
  blake3Hash,
  type Broker,
  defineTool,
  type Isolate,
  type IsolateHost,
  manifestOf,
  packageHash,
  type ToolPackage,
} from "@keyhole/kernel";
import { fsRead, fsWrite } from "@keyhole/kernel/families";
import { granting } from "../../support/kernel.ts";
import { openKernel, type Seam, seen } from "./seam.ts";

const files = { kind: "fs.read", paths: ["open/**"] } as const;
const external = { determinism: "external" } as const;

export function packed(more: Record<string, unknown> = {}): ToolPackage {
  const definition = { name: "packed", version: "1.0.0", description: "Under test.", input: { type: "object" }, output: { kind: "json" }, execute: () => 1, ...more }; // prettier-ignore
  const manifest = manifestOf(defineTool(definition as unknown as Parameters<typeof defineTool>[0]), "module");
  const code = "export default {};";
  return { manifest, code, hash: packageHash(manifest, code, blake3Hash) ?? "" };
}

/** A host whose one isolate does this. */
export function hostOf(call: Isolate["call"], more: Partial<IsolateHost> = {}): IsolateHost {
  return {
    name: "a host",
    sources: ["module"],
    enforces: [],
    preempts: true,
    brokers: [],
    open: async () => ({ call, terminate() {}, alive: true }),
    async close() {},
    ...more,
  };
}

export const returned = (value: unknown): Awaited<ReturnType<Isolate["call"]>> => ({
  kind: "returned",
  output: { form: "json", text: JSON.stringify(value) },
});

export const seams: readonly Seam[] = [
  {
    name: "a request of an isolate",
    first: { kind: "fs.read", operation: "stat", arguments: { path: "open/a" } },
    second: { kind: "fs.write", operation: "remove", arguments: { path: "closed/b" } },
    ways: ["a proxy"],
    run: async (request) => {
      const served: unknown[] = [];
      const broker: Broker = {
        families: [fsRead, fsWrite],
        needs: ({ kind, arguments: { path } }) => ({ ok: true, needs: [{ kind, path } as never] }),
        serve: async ({ kind, operation, arguments: asked }) => (served.push([kind, operation, asked]), { ok: true, value: 1 }), // prettier-ignore
      };
      const host = hostOf(async (_, port) => returned(await port.request(request)));
      const kernel = await openKernel({ host, brokers: [broker], policy: granting(files) });
      kernel.register(packed({ ...external, effects: ["fs.read"], capabilities: [files] }));
      return [served, await seen(kernel, await kernel.call("packed", {}))];
    },
  },
];
