import { env } from "cloudflare:workers";

/** What `wrangler.toml` binds. */
export const bindings = env as unknown as {
  readonly LOADER: WorkerLoader;
  readonly KERNEL: DurableObjectNamespace;
  readonly FILES: R2Bucket;
  readonly VALUES: KVNamespace;
  readonly DATABASE: D1Database;
};
