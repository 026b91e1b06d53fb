/** Bindings and settings of the service; `wrangler.toml` is where they are set. */
export interface Env {
  readonly KERNEL: DurableObjectNamespace;
  /** Dynamic Workers in this Worker; used where there is no SANDBOX. */
  readonly LOADER?: WorkerLoader;
  /** The sandbox Worker, in which tools run apart from the kernel. */
  readonly SANDBOX?: Fetcher;
  /** More of them, where a tool can hold up a whole sandbox; only locally. */
  readonly SANDBOX_2?: Fetcher;
  readonly SANDBOX_3?: Fetcher;
  readonly FILES: R2Bucket;
  /** Values of tools; without it none are kept. */
  readonly VALUES?: KVNamespace;
  /** The database `main` of the tenant `default`. */
  readonly DATABASE?: D1Database;
  /** JSON: SHA-256 of a token in hexadecimal → `{ subject, scopes, tenant? }`. A secret where the service is deployed. */
  readonly KEYHOLE_TOKENS?: string;
  /** Origins that may call from a page, separated by spaces or commas. */
  readonly KEYHOLE_ORIGINS?: string;
  /** Where people and clients reach the service: `https://tools.example.com`. Approval pages need it. Default: no pages, and `/mcp` under each name that the platform routes here. */
  readonly KEYHOLE_URL?: string;
  /** JSON: a policy in place of the bundled one. */
  readonly KEYHOLE_POLICY?: string;
  /** Where `web_search` searches: an address that speaks SearXNG's JSON. Without it the tool is not there. */
  readonly KEYHOLE_SEARCH_URL?: string;
  /** Where to say that the sandbox stands still; only locally. */
  readonly KEYHOLE_WATCHDOG?: string;
}

/** All sandboxes that are bound. */
export function sandboxesOf({ SANDBOX, SANDBOX_2, SANDBOX_3 }: Env): readonly Fetcher[] {
  return [SANDBOX, SANDBOX_2, SANDBOX_3].filter((each) => each !== undefined);
}
