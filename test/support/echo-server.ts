import {
  type Capability,
  createKernel,
  type defineTool,
  type Kernel,
  type KernelOptions,
  type PolicyDocument,
  type ToolContext,
} from "@keyhole/kernel";
import { inlineHost } from "@keyhole/kernel/inline";
import { recordingHost, type RunEntry } from "@keyhole/kernel/replay";
import { secretKeeper, type SecretStore } from "@keyhole/kernel/secrets";
import { netBroker } from "@keyhole/worker-host/brokers/net";
import { afterEach } from "vitest";
import { toolOf } from "./kernel.ts";

/** A server that keeps what it is sent, and answers with it as the test says. */
export interface EchoServer {
  stored: string;
  answer: (stored: string, url: string, headers: Headers) => Response | Promise<Response>;
}

export const echoed: EchoServer["answer"] = (stored) =>
  new Response(`It is ${stored}.`, { headers: { "x-note": encodeURIComponent(stored) } });

export const url = "https://api.example.com/note";
const hosts = ["api.example.com", "www.example.net"];

/** With headers by which a store gives a part of an answer: the policy lets them through, so that the broker has to refuse them. */
export const reading: readonly Capability[] = [
  { kind: "net.read", hosts, headers: ["x-ms-range", "request_range"] },
  { kind: "net.write", hosts },
];
const using = (...names: readonly string[]): Capability => ({ kind: "secret.use", names, hosts: [hosts[0]!] });

/** Every tool may read everywhere; two may use secrets at one host. */
export const policyWith = (...names: readonly string[]): PolicyDocument => ({
  version: "1",
  posture: "permissive",
  grants: [
    ...[...reading, { kind: "tool.call", tools: ["*"] } as const].map((capability) => ({ tool: "*", capability })),
    ...["poster", "user"].map((tool) => ({ tool, capability: using(...names) })),
  ],
});

type Context = ToolContext;

interface Asked {
  readonly url?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Gives back all that it hears, of a refusal too. */
async function hear({ url: from = url, headers = {} }: Asked, { fetch, log }: Context): Promise<string> {
  try {
    const response = await fetch(from, { headers });
    const heard = JSON.stringify([response.url, response.statusText, [...response.headers], await response.text()]);
    log(heard);
    return heard;
  } catch (error) {
    const { code, message } = error as { readonly code: string; readonly message: string };
    return `${code}: ${message}`;
  }
}

const base = { effects: ["net.read", "net.write"], determinism: "external" } as const;
const any = { ...using("*"), hosts: ["*"] };

/** `poster` tells the server a secret, `user` may, `reader` may not, and `outer` reads through another tool. */
const tools: readonly ReturnType<typeof defineTool>[] = [
  toolOf(
    async (_, { fetch, secret }: Context) => {
      await fetch(url, { method: "POST", body: secret("key") });
      return "posted";
    },
    { ...base, name: "poster", capabilities: [...reading, any] },
  ),
  toolOf(hear, { ...base, name: "user", capabilities: [...reading, { ...any, optional: true }] }),
  toolOf(hear, { ...base, name: "reader", capabilities: reading }),
  toolOf((input: object, { tools: others }: Context) => others.call("reader", input), {
    ...base,
    name: "outer",
    capabilities: [...reading, { kind: "tool.call", tools: ["*"] }],
  }),
];

export interface EchoBench {
  readonly kernel: Kernel;
  /** Names in the order in which the store was asked for them. */
  readonly asked: string[];
  /** Everything that anybody outside was shown: results, messages, events, the entries of a run. */
  readonly shown: () => Promise<string>;
  /** What the tool heard. */
  readonly hear: (tool: string, input?: object, options?: object) => Promise<string>;
}

const opened: Kernel[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((kernel) => kernel.close()));
});

/** A kernel whose network is one server. */
export async function openEcho(
  server: EchoServer,
  store: SecretStore,
  options: KernelOptions = {},
): Promise<EchoBench> {
  const asked: string[] = [];
  const all: unknown[] = [];
  const entries: RunEntry[] = [];
  const send = async (to: string, { method, body, headers }: RequestInit): Promise<Response> => {
    if (method !== "POST") return server.answer(server.stored, to, new Headers(headers));
    server.stored = new TextDecoder().decode(body as Uint8Array);
    return new Response("stored");
  };
  const kernel = await createKernel({
    policy: policyWith("key"),
    host: recordingHost(inlineHost(), (entry) => entries.push(entry)),
    secrets: secretKeeper({ ...store, get: (name) => (asked.push(name), store.get(name)) }),
    brokers: [netBroker({ fetch: send })],
    ...options,
  });
  opened.push(kernel);
  for (const tool of tools) kernel.registerTrusted(tool);
  const note = (what: unknown): void => void all.push(what);
  return {
    kernel,
    asked,
    shown: async () => JSON.stringify([all, entries, await kernel.audit.read()]),
    hear: async (tool, input = {}, more = {}) => {
      const result = await kernel.call(tool, input, { ...more, onLog: note, onProgress: note });
      note(result);
      if (result.ok) return typeof result.data === "string" ? result.data : JSON.stringify(result.data);
      return `${result.error.code}: ${result.error.message}`;
    },
  };
}
