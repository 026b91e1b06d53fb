/** `@keyhole/worker-host/testing`: brokers in memory, for tests of tools. */
import { knownOptions } from "@keyhole/kernel/foreign";
import type { Broker } from "@keyhole/kernel";
import { filesBroker, memoryStore } from "../brokers/files.ts";
import { kvBroker, memoryKv } from "../brokers/kv.ts";
import { netBroker } from "../brokers/net.ts";

export interface MemoryBrokersOptions {
  /** Files that are there before the test, by path: text or bytes. Default: none. */
  readonly files?: Readonly<Record<string, string | Uint8Array>>;
  /** Values by key. Default: none. */
  readonly values?: Readonly<Record<string, string | Uint8Array>>;
  /** Answers requests in place of the network. Default: each request fails. */
  readonly fetch?: (url: string, init: RequestInit) => Response | Promise<Response>;
}

const unanswered = (url: string): Promise<Response> =>
  Promise.reject(new Error(`The test answers no request to ${url}.`));

export interface MemoryBrokers {
  /** Of files, values and the network: for the option `brokers` of a kernel, before those of its host. */
  readonly brokers: readonly Broker[];
  /** Text of a file as it is now; `undefined` if there is none. */
  file(path: string): Promise<string | undefined>;
  /** Text of a value as it is now; `undefined` if there is none. */
  value(key: string): Promise<string | undefined>;
  /** The requests so far, as `METHOD URL`. */
  readonly requests: readonly string[];
}

/**
 * Files, values and a network that a test makes and reads. The kernel checks each request against its grants as it does with real brokers.
 *
 * @example
 * const memory = await memoryBrokers({ fetch: () => Response.json({ title: "A bug" }) });
 * const kernel = await createKernel({ host: nodeHost(), brokers: memory.brokers, policy });
 */
export async function memoryBrokers(options: MemoryBrokersOptions = {}): Promise<MemoryBrokers> {
  const {
    files = {},
    values = {},
    fetch = unanswered,
  } = knownOptions(options, { files: true, values: true, fetch: true }, "memoryBrokers");
  const [store, kv] = [memoryStore(), memoryKv()];
  for (const [path, content] of Object.entries(files)) held(path, await store.write(path, bytesOf(content)));
  for (const [key, content] of Object.entries(values)) held(key, await kv.put(key, bytesOf(content)));
  const requests: string[] = [];
  const net = netBroker({
    async fetch(url, init) {
      requests.push(`${init.method ?? "GET"} ${url}`);
      return fetch(url, init);
    },
  });
  return {
    brokers: [filesBroker(store), kvBroker(kv), net],
    file: async (path) => textOf(await store.read(path, Infinity)),
    value: async (key) => textOf(await kv.get(key, Infinity)),
    requests,
  };
}

type Stored<Value> = { readonly ok: true; readonly value: Value } | { readonly ok: false; readonly fault: string };

/** @throws TypeError for a path that is also a folder, or too many bytes: a bug of the test */
function held(name: string, result: Stored<undefined>): void {
  if (!result.ok) throw new TypeError(`${name} cannot be stored: ${result.fault}.`);
}

function textOf(result: Stored<Uint8Array>): string | undefined {
  return result.ok ? new TextDecoder().decode(result.value) : undefined;
}

function bytesOf(content: string | Uint8Array): Uint8Array {
  return typeof content === "string" ? new TextEncoder().encode(content) : content;
}
