import {
  type Broker,
  defineTool,
  type Isolate,
  IsolateFailure,
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
  return { manifest, code, hash: packageHash(manifest, code) ?? "" };
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

async function onHost(host: IsolateHost, more: Record<string, unknown> = {}): Promise<unknown> {
  const kernel = await openKernel({ host });
  const registered = kernel.register(packed(more));
  return seen(kernel, registered, await kernel.call("packed", {}), kernel.list());
}

export const returned = (value: unknown): Awaited<ReturnType<Isolate["call"]>> => ({
  kind: "returned",
  output: { form: "json", text: JSON.stringify(value) },
});

export const seams: readonly Seam[] = [
  {
    name: "the outcome of an isolate",
    first: { kind: "returned", output: { form: "json", text: '{"a":1}' } },
    second: { kind: "threw", name: "Error", message: "no", output: { form: "text", text: "x".repeat(100) } },
    run: (outcome) =>
      onHost(
        hostOf(async () => outcome),
        { bounds: { outputBytes: 50 } },
      ),
  },
  {
    name: "why an isolate has no output",
    first: { kind: "threw", name: "Error", message: "first" },
    second: { kind: "returned", name: "Other", message: "second", output: { form: "json", text: "1" } },
    run: (outcome) => onHost(hostOf(async () => outcome)),
  },
  {
    name: "what a run cost",
    first: { fuelUsed: 5, peakMemoryBytes: 6 },
    second: { fuelUsed: -1, peakMemoryBytes: 7 },
    run: (usage) =>
      onHost(
        hostOf(async (_, port) => {
          port.used?.(usage);
          return returned(1);
        }),
      ),
  },
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
  {
    name: "what a host says of itself",
    first: { name: "first", sources: ["module"], enforces: ["fuel"], preempts: true },
    second: { name: "second", sources: ["wasm"], enforces: [], preempts: false },
    run: async (facts) => {
      const { open, close, brokers } = hostOf(async () => returned(1));
      const host = Object.assign(Object.create(facts) as IsolateHost, { open, close, brokers });
      const kernel = await openKernel({ host });
      kernel.register(packed({ bounds: { fuel: 100 } }));
      return seen(kernel, await kernel.call("packed", {}), await kernel.call("packed", {}));
    },
  },
  {
    name: "why an isolate was not opened",
    first: { code: "BOUNDS_EXCEEDED", message: "first", hints: { hint: "one" } },
    second: { code: "TOOL_ERROR", message: "second", hints: { hint: "two" } },
    run: (why) => {
      const failure = new IsolateFailure("ISOLATE_LOST", "");
      for (const name of ["code", "message", "hints"])
        Object.defineProperty(failure, name, { get: () => Reflect.get(why, name) as unknown });
      return onHost(hostOf(async () => returned(1), { open: () => Promise.reject(failure) }));
    },
  },
  {
    name: "what a host has against a tool",
    first: { code: "INVALID_MANIFEST", path: "/a", message: "first", hint: "one" },
    second: { code: "INVALID_POLICY", path: "/b", message: "second", hint: "two" },
    run: (error) => onHost(hostOf(async () => returned(1), { check: () => error })),
  },
];
