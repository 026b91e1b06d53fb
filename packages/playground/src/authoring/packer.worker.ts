import quickJsUrl from "keyhole:quickjs-wasi/quickjs.wasm?metered-url";
import { builtEngine, type Engine } from "@keyhole/worker-host/wasm/interpreter";
import { build, initialize, version } from "esbuild-wasm";
import esbuildUrl from "esbuild-wasm/esbuild.wasm?url";
import { mapFiles, Packer } from "keyhole/packer";
import type { PackAnswer, PackRequest } from "./pack.ts";
import { toolSources } from "./tool-sources.ts";

/* Packs as `keyhole pack` does: same esbuild, same pinned options, manifest read in the interpreter. Nothing of the tool runs in this realm. */

let started: Promise<void> | undefined;

const kernel = "/node_modules/@keyhole/kernel/";
const described = { name: "@keyhole/kernel", type: "module", exports: { "./tool": "./src/tool/index.ts" } };

/** The modules that a tool can import by name. */
const packages: readonly (readonly [string, string])[] = [
  [`${kernel}package.json`, JSON.stringify({ ...described, sideEffects: false })],
  ...toolSources.map(([path, text]) => [`${kernel}${path}`, text] as const),
];

async function engine(): Promise<Engine> {
  return builtEngine(await WebAssembly.compileStreaming(fetch(quickJsUrl)));
}

async function pack({ source, module }: PackRequest): Promise<PackAnswer> {
  const startedAt = performance.now();
  const [file, own] =
    module === undefined
      ? ["/tool.ts", [["/tool.ts", source]] as const]
      : [
          "/tool.wasm",
          [
            ["/tool.json", source],
            ["/tool.wasm", module],
          ] as const,
        ];
  try {
    await (started ??= initialize({ wasmURL: esbuildUrl, worker: false }));
    const files = mapFiles(new Map<string, string | Uint8Array>([...packages, ...own]));
    const packed = await new Packer({ esbuild: { version, build }, files, engine }).pack(file);
    return { ok: true, package: packed.package, tookMs: performance.now() - startedAt };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { ok: false, reason, tookMs: performance.now() - startedAt };
  }
}

addEventListener("message", ({ data, ports }: MessageEvent<PackRequest>) => {
  void pack(data).then((answer) => ports[0]?.postMessage(answer));
});
