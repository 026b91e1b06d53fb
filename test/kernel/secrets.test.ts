import type { ApprovalRequest, Broker, CapabilityReply, DeclaredCapability, Need, ToolContext } from "@keyhole/kernel";
import { netRead } from "@keyhole/kernel/families";
import { inlineHost } from "@keyhole/kernel/inline";
import { recordingHost, type RunEntry } from "@keyhole/kernel/replay";
import { secretKeeper, type SecretStore } from "@keyhole/kernel/secrets";
import { describe, expect, it } from "vitest";
import { openKernel, toolOf } from "../support/kernel.ts";

/** Has what every spelling treats differently: quotes, a slash, a plus, a percent sign, an ampersand, a space, a letter beyond ASCII. */
const canary = 'c4n"ary/+%&é s3cret';

/** What a server could give back, and a search has to find. */
const spellings: readonly (readonly [string, string])[] = [
  ["as it is", canary],
  ["percent-encoded", encodeURIComponent(canary)],
  ["percent-encoded twice", encodeURIComponent(encodeURIComponent(canary))],
  ["percent-encoded in lower case", encodeURIComponent(canary).replace(/%../g, (each) => each.toLowerCase())],
  ["form-encoded", new URLSearchParams({ x: canary }).toString().slice(2)],
  ["as JSON", JSON.stringify(canary).slice(1, -1)],
  ["as JSON in ASCII", JSON.stringify(canary).slice(1, -1).replace("é", "\\u00e9").replace("/", "\\/")],
  ["as HTML", canary.replace("&", "&amp;").replace('"', "&quot;")],
  ["in base64", Buffer.from(canary).toString("base64")],
  ["in base64 behind a name", Buffer.from(`ada:${canary}`).toString("base64")],
  ["in base64 within a text", Buffer.from(`user=ada&key=${canary}&more`).toString("base64")],
  ["in base64url", Buffer.from(canary).toString("base64url")],
  ["in hexadecimal", Buffer.from(canary).toString("hex")],
];

/** Any of it anywhere, long enough to be no chance. */
function leaks(text: string): readonly string[] {
  return [...spellings, ["a part of it", "c4n"] as const, ["the end of it", "s3cret"] as const]
    .filter(([, spelling]) => text.includes(spelling))
    .map(([name]) => name);
}

interface Sent {
  readonly url: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string;
}

/** Reveals as the network's broker does, and hands the request to a server that answers as it likes. */
function revealingBroker(serve: (sent: Sent) => CapabilityReply): Broker & { readonly sent: Sent[] } {
  const sent: Sent[] = [];
  const needOf = (url: string): Need => {
    const { hostname, pathname } = new URL(url);
    return { kind: "net.read", method: "GET", host: hostname, isPublic: true, port: 443, path: pathname };
  };
  return {
    sent,
    families: [netRead],
    needs: ({ arguments: { url } }) => ({ ok: true, needs: [needOf(String(url))] }),
    serve: async ({ arguments: given, body = new Uint8Array() }, { secrets }) => {
      const { url, headers } = given as { readonly url: string; readonly headers: readonly [string, string][] };
      const { hostname } = new URL(url);
      const target = await secrets.reveal(url, hostname, encodeURIComponent);
      if (!target.ok) return target;
      const pairs: [string, string][] = [];
      for (const [name, value] of headers) {
        const revealed = await secrets.reveal(value, hostname);
        if (!revealed.ok) return revealed;
        pairs.push([name, revealed.value]);
      }
      const content = await secrets.revealBytes(body, hostname);
      if (!content.ok) return content;
      const request = { url: target.value, headers: pairs, body: new TextDecoder().decode(content.value) };
      sent.push(request);
      return serve(request);
    },
  };
}

const reply = (url: string, headers: [string, string][], text: string): CapabilityReply => ({
  ok: true,
  value: { url, status: 200, statusText: "", redirected: false, headers },
  body: new TextEncoder().encode(text),
});

const policy = {
  version: "1",
  posture: "standard",
  grants: [
    { tool: "*", capability: { kind: "net.read", hosts: ["api.example.com", "other.example.com"] } },
    { tool: "*", capability: { kind: "secret.use", names: ["api_key", "empty"], hosts: ["api.example.com"] } },
  ],
};
const capabilities: readonly DeclaredCapability[] = [
  { kind: "net.read", hosts: ["*"] },
  { kind: "secret.use", names: ["*"], hosts: ["*"] },
];

const usual: SecretStore = { get: (name) => (name === "api_key" ? canary : undefined) };

async function callWith(
  execute: (context: ToolContext) => unknown,
  serve: (sent: Sent) => CapabilityReply,
  { store = usual, tier = 2 }: { readonly store?: SecretStore; readonly tier?: number } = {},
) {
  const broker = revealingBroker(serve);
  const seen: unknown[] = [];
  const asked: ApprovalRequest[] = [];
  const entries: RunEntry[] = [];
  const { kernel, events } = await openKernel({
    policy,
    secrets: secretKeeper(store),
    brokers: [broker],
    host: recordingHost(inlineHost(), (entry) => entries.push(entry)),
    approver: async (request) => {
      asked.push(request);
      return { answer: "allow", scope: "session", approver: "ada" };
    },
  });
  const tool = toolOf((_, context: ToolContext) => execute(context), {
    capabilities,
    effects: ["net.read"],
    determinism: "external",
    tier,
  });
  expect(kernel.registerTrusted(tool)).toMatchObject({ ok: true });
  const note = (what: unknown): void => void seen.push(what);
  const result = await kernel.call("subject", {}, { onEvent: note, onLog: note, onProgress: note });
  const outside = { result, events: await events(), asked, entries, seen, standing: kernel.approvals.list() };
  return { result, broker, outside, events: outside.events };
}

const fetchWith = async ({ fetch, secret, log, progress }: ToolContext): Promise<unknown> => {
  const key = secret("api_key");
  const response = await fetch(`https://api.example.com/?key=${key}`, { headers: { authorization: `Bearer ${key}` } });
  const text = await response.text();
  const echoed = { url: response.url, headers: [...response.headers], text, key };
  log(JSON.stringify(echoed));
  progress({ done: 1, message: JSON.stringify(echoed) });
  return echoed;
};

describe("a secret", () => {
  it("arrives in header and query of the granted host, and the tool sees its placeholder", async () => {
    const { result, broker, events } = await callWith(fetchWith, ({ url }) => reply(url, [], "fine"));
    const url = `https://api.example.com/?key=${encodeURIComponent(canary)}`;
    expect(broker.sent).toEqual([{ url, headers: [["authorization", `Bearer ${canary}`]], body: "" }]);
    const { key } = (result.ok ? result.data : {}) as { key?: string };
    expect(result).toMatchObject({ ok: true, data: { text: "fine", url: `https://api.example.com/?key=${key}` } });
    expect(events.filter(({ type }) => type === "capability.used").map(({ payload }) => payload)).toMatchObject([
      { index: 1, kind: "secret.use", operation: "reveal", target: "api_key for api.example.com", outcome: "ok" },
      { index: 0, kind: "net.read", operation: "fetch", target: "GET api.example.com:443/", outcome: "ok" },
    ]);
  });

  it("arrives in a body", async () => {
    const { broker } = await callWith(
      ({ fetch: ask, secret }) =>
        ask("https://api.example.com/", { body: `{"é":"${secret("api_key")}"}` }).then(() => 1),
      ({ url }) => reply(url, [], ""),
    );
    expect(broker.sent[0]!.body).toBe(`{"é":"${canary}"}`);
  });

  it.each(spellings)("that a server gives back %s is nowhere outside", async (_, spelling) => {
    const { result, outside } = await callWith(fetchWith, ({ url }) =>
      reply(url, [["x-echo", spelling]], `${"x".repeat(7_000)}${spelling}${spelling}y`),
    );
    expect(result).toMatchObject({ ok: true });
    expect(leaks(JSON.stringify(outside))).toEqual([]);
  });

  it("is not in an error either: a message of the platform, an exception of the tool", async () => {
    const { result, outside } = await callWith(
      async (context) => {
        try {
          await fetchWith(context);
        } catch (error) {
          throw new Error(`failed: ${(error as Error).message} ${context.secret("api_key")}`, { cause: error });
        }
      },
      () => ({
        ok: false,
        error: { code: "UNAVAILABLE", message: `invalid header value: ${canary}`, hint: encodeURIComponent(canary) },
      }),
    );
    expect(result).toMatchObject({ ok: false, error: { code: "TOOL_ERROR" } });
    expect(leaks(JSON.stringify(outside))).toEqual([]);
  });

  it("whose store throws it is not in an error", async () => {
    const store: SecretStore = {
      get: () => {
        throw new Error(canary);
      },
    };
    const { result, broker, outside } = await callWith(fetchWith, () => reply("", [], ""), { store });
    expect(result).toMatchObject({ ok: false, error: { code: "TOOL_ERROR" } });
    expect(broker.sent).toEqual([]);
    expect(leaks(JSON.stringify(outside))).toEqual([]);
  });

  it.each<[string, string, (context: ToolContext) => unknown]>([
    [
      "to another host",
      "CAPABILITY_DENIED",
      ({ fetch, secret }) => fetch(`https://other.example.com/?k=${secret("api_key")}`),
    ],
    [
      "of another name",
      "CAPABILITY_DENIED",
      ({ fetch, secret }) => fetch(`https://api.example.com/?k=${secret("root_key")}`),
    ],
    ["without a value", "TOOL_ERROR", ({ fetch, secret }) => fetch(`https://api.example.com/?k=${secret("empty")}`)],
    ["that has no name", "TOOL_ERROR", ({ secret }) => secret("api key")],
    [
      "under a token of another call",
      "TOOL_ERROR",
      ({ fetch }) => fetch(`https://api.example.com/?k=keyhole-secret.${"0".repeat(32)}.api_key.`),
    ],
  ])("%s goes nowhere: %s", async (_, code, execute) => {
    const { result, broker } = await callWith(execute, () => reply("", [], ""));
    expect(result).toMatchObject({ ok: false, error: { code } });
    expect(broker.sent).toEqual([]);
  });

  it("that one call was given means nothing in the next", async () => {
    let kept = "";
    const broker = revealingBroker(({ url }) => reply(url, [], ""));
    const { kernel } = await openKernel({ policy, secrets: secretKeeper({ get: () => canary }), brokers: [broker] });
    const tool = toolOf(
      async (_, { fetch, secret }: ToolContext) => {
        kept ||= secret("api_key");
        await fetch(`https://api.example.com/?k=${kept}`);
        return 1;
      },
      { capabilities, effects: ["net.read"], determinism: "external" },
    );
    kernel.registerTrusted(tool);
    expect(await kernel.call("subject", {}, { sessionId: "s" })).toMatchObject({ ok: true });
    expect(await kernel.call("subject", {}, { sessionId: "s" })).toMatchObject({
      ok: false,
      error: { code: "TOOL_ERROR" },
    });
    expect(broker.sent).toHaveLength(1);
  });

  it("without a keeper is refused", async () => {
    const broker = revealingBroker(({ url }) => reply(url, [], ""));
    const { kernel } = await openKernel({ policy, brokers: [broker] });
    kernel.registerTrusted(
      toolOf((_, context: ToolContext) => fetchWith(context), {
        capabilities,
        effects: ["net.read"],
        determinism: "external",
      }),
    );
    expect(await kernel.call("subject", {})).toMatchObject({
      ok: false,
      error: { code: "CAPABILITY_DENIED" },
    });
    expect(broker.sent).toEqual([]);
  });
});
