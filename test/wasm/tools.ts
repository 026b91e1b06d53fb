import type {
  CallOptions,
  CallResult,
  IsolateHost,
  JsonValue,
  Kernel,
  PolicyDocument,
  ToolPackage,
} from "@keyhole/kernel";
import { createKernel } from "@keyhole/kernel";
import { type FileStore, filesBroker, memoryStore } from "@keyhole/worker-host/brokers/files";
import { type WasmDefinition, wasmPackage } from "@keyhole/worker-host/wasm/modules";
import { openPolicy } from "../support/kernel.ts";
import { bytesOf } from "./bytes.ts";
import built from "./tools/tools.json" with { type: "json" };

/** Built by `tools/build.sh` from the sources beside it. */
export const modules = {
  subject: bytesOf(built.subject),
  plain: bytesOf(built.plain),
  catcher: bytesOf(built.catcher),
  signatures: bytesOf(built.signatures),
  starter: bytesOf(built.starter),
  exits: bytesOf(built.exits),
  sockets: bytesOf(built.sockets),
  partial: bytesOf(built.partial),
  sleeper: bytesOf(built.sleeper),
} as const;

const definition = {
  name: "subject",
  version: "1.0.0",
  description: "Does what it is told.",
  determinism: "external",
  effects: ["fs.read", "fs.write"],
  capabilities: [
    { kind: "fs.read", paths: ["**"], optional: true },
    { kind: "fs.write", paths: ["**"], optional: true },
    { kind: "clock", optional: true },
    { kind: "random", optional: true },
    { kind: "secret.use", names: ["token"], hosts: ["example.com"], optional: true },
  ],
  input: {
    type: "object",
    properties: { deed: { type: "string" }, value: { type: "string" } },
    required: ["deed"],
  },
  output: { kind: "json" },
  bounds: { memoryBytes: 4 * 2 ** 20 },
  wasm: { args: ["--flag", "löst"], environment: { PLACE: "here" } },
} as const satisfies WasmDefinition<Record<string, unknown>, { kind: "json" }>;

export function toolOf(name: keyof typeof modules, change: Partial<WasmDefinition<never, never>> = {}): ToolPackage {
  const packed = wasmPackage({ ...definition, ...change }, modules[name]);
  if (!packed.ok) throw new Error(packed.error.message);
  return packed.value;
}

const filePolicy: PolicyDocument = {
  ...openPolicy,
  grants: [
    { tool: "*", capability: { kind: "fs.read", paths: ["**"], except: ["private/**"] } },
    { tool: "*", capability: { kind: "fs.write", paths: ["out/**"] } },
  ],
};

export interface Rig {
  readonly kernel: Kernel;
  readonly store: FileStore;
  call(deed: string, value?: string, options?: CallOptions): Promise<CallResult>;
}

export async function rigOf(
  host: IsolateHost,
  tool: ToolPackage = toolOf("subject"),
  policy: PolicyDocument = filePolicy,
): Promise<Rig> {
  const store = memoryStore();
  for (const [path, text] of Object.entries({ granted: "content", "a/one": "1", "a/two": "2", "private/key": "no" }))
    await store.write(path, new TextEncoder().encode(text));
  const kernel = await createKernel({ host, policy, brokers: [filesBroker(store)] });
  const registered = kernel.register(tool);
  if (!registered.ok) throw new Error(registered.error.message);
  return {
    kernel,
    store,
    call: (deed, value = "", options = {}) =>
      kernel.call(tool.manifest.name, { deed, value } satisfies Record<string, JsonValue>, options),
  };
}
