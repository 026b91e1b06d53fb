import { createHash } from "node:crypto";
import { build } from "esbuild";
import { loadWrangler } from "../../packages/edge/src/dev/wrangler.ts";
import { keyhole } from "../../packages/keyhole/src/esbuild.ts";
import { root } from "./sources.ts";

export interface EdgeWorker {
  readonly url: string;
  readonly stop: () => Promise<void>;
}

/**
 * A service of `@keyhole/edge` in a workerd of its own, as its user writes it: a module that exports `KernelObject` and a gateway.
 *
 * @param tokens by the token itself
 */
export async function startEdgeWorker(
  program: string,
  tokens: Readonly<Record<string, object>>,
  { port = 0, variables = {} }: { readonly port?: number; readonly variables?: Readonly<Record<string, string>> } = {},
): Promise<EdgeWorker> {
  const { outputFiles } = await build({
    stdin: { contents: program, resolveDir: `${root}packages/edge` },
    bundle: true,
    write: false,
    format: "esm",
    external: ["cloudflare:workers", "node:*"],
    plugins: [keyhole()],
    conditions: ["keyhole-source", "workerd", "worker", "browser"],
  });
  const { miniflare } = await loadWrangler();
  const digests = Object.entries(tokens).map(([token, identity]) => [
    createHash("sha256").update(token).digest("hex"),
    identity,
  ]);
  const options = {
    modules: true,
    script: outputFiles[0]!.text,
    compatibilityDate: "2026-10-01",
    compatibilityFlags: ["enable_request_signal", "request_signal_passthrough"],
    host: "127.0.0.1",
    port,
    durableObjects: { KERNEL: { className: "KernelObject", useSQLite: true } },
    r2Buckets: ["FILES"],
    kvNamespaces: ["VALUES"],
    workerLoaders: { LOADER: {} },
    bindings: { KEYHOLE_TOKENS: JSON.stringify(Object.fromEntries(digests)), ...variables },
  };
  const workerd = new miniflare.Miniflare(miniflare.convertV4MiniflareOptions(options));
  const ready = await workerd.ready;
  return { url: String(ready).replace(/\/$/, ""), stop: () => workerd.dispose() };
}
