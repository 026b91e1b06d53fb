import {
  canonicalJson,
  createKernel,
  type IsolateHost,
  type JsonValue,
  type Kernel,
  type ToolPackage,
} from "@keyhole/kernel";
import { filesBroker, memoryStore } from "@keyhole/worker-host/brokers/files";
import { netBroker } from "@keyhole/worker-host/brokers/net";
import { builtinTools } from "@keyhole/worker-host/tools";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { expectSoundLog } from "../support/kernel.ts";
import ramp from "keyhole:./tools/bytes.ts";
import spell from "keyhole:./tools/text.ts";
import { type AnyTool, registerAny } from "../support/registered.ts";

interface GoldenCall {
  readonly tool: string;
  readonly input: JsonValue;
  /** The normalized output: canonical JSON, the text itself, or hexadecimal bytes. */
  readonly output: string;
  readonly hash: string;
}

/** In this order: the files are written before they are read. Whoever changes a line changes what every host says. */
const tenCalls: readonly GoldenCall[] = [
  {
    tool: "echo",
    input: { message: "Grüße, 世界 \u{1f511}\n" },
    output: '{"message":"Grüße, 世界 \u{1f511}\\n"}',
    hash: "blake3:6549538226d32046cd427718cf5168ec044ac57827d830e1e4bda743b067a043",
  },
  {
    tool: "hash",
    input: { data: "keyhole" },
    output:
      '{"algorithm":"blake3","byteLength":7,"digest":"6329b32981406506d79ddd7795fca002231aa3a19ce7f28c42a27a9ce610c064"}',
    hash: "blake3:ff361a17743cfba1bc4efdfb55d0e8ba1d17e60e7855bba743b078c00a14357a",
  },
  {
    tool: "hash",
    input: { data: "AAECAwQFBgcICQ==", encoding: "base64" },
    output:
      '{"algorithm":"blake3","byteLength":10,"digest":"87fcf07cac5be3c91735b34e535c67286e4e7a63bf152d95f2cf4cd1a244758b"}',
    hash: "blake3:d86633b9166762356d5aeb4053c5baeb9bfbb6d093c4dbbc2b551dda8d57b689",
  },
  {
    tool: "calculator",
    input: { expression: "-2^2 + (1 + 2) * sqrt(16) / 3^2" },
    output: '{"value":-2.666666666666667}',
    hash: "blake3:8c5abf9f5284f221a693254ed215311feed494036f91832bc439950b066fbe13",
  },
  {
    tool: "calculator",
    input: { expression: "0.1 + 0.2 + 10^21 * 0 - 1 / 3" },
    output: '{"value":-0.03333333333333327}',
    hash: "blake3:801a344f695c960386d8e5379877f054aa0b6bee5891805e8766e8b2f47f96d7",
  },
  {
    tool: "write_file",
    input: { path: "notes/ä.txt", content: "one\ntwo\n" },
    output: '{"byteLength":8,"path":"notes/ä.txt"}',
    hash: "blake3:55843010fecb87ba5582bfa88d21288fe88e47a30b33d85faec40a0e321a26ef",
  },
  {
    tool: "read_file",
    input: { path: "notes/ä.txt" },
    output: '{"byteLength":8,"content":"one\\ntwo\\n","encoding":"text","path":"notes/ä.txt"}',
    hash: "blake3:95edcd0fab4190fe6c75c663ee179e70dfc15e3763965cce796f829c5c6e2033",
  },
  {
    tool: "http_fetch",
    input: { url: "https://example.com/a?b=c", headers: { accept: "*/*" } },
    output:
      '{"body":"asked for https://example.com/a?b=c","bodyEncoding":"text","byteLength":35,"headers":{"content-type":"text/plain","x-a":"1","x-b":"2"},"status":200,"url":"https://example.com/a?b=c"}',
    hash: "blake3:bce1afdaa2db8b5e53a44af7d489d26aa0dabb8f585914b24776d09ed499574e",
  },
  {
    tool: "spell",
    input: { text: "aé世\u{1f511}" },
    output: "U+0061\nU+00E9\nU+4E16\nU+1F511",
    hash: "blake3:215275ed81f48253df6639eff27f2a0367ad86d73957d41b2004117915fbe322",
  },
  {
    tool: "ramp",
    input: { length: 20 },
    output: "000102030405060708090a0b0c0d0e0f10111213",
    hash: "blake3:a418faec67baaeb5177880c3673a125f1c1123aa18370b007c3e707ef9a7946c",
  },
];

const policy = {
  version: "1",
  posture: "permissive",
  grants: [
    { tool: "write_file", capability: { kind: "fs.write", paths: ["**"] } },
    { tool: "read_file", capability: { kind: "fs.read", paths: ["**"] } },
    { tool: "http_fetch", capability: { kind: "net.read", hosts: ["example.com"] } },
  ],
} as const;

/** The world, the same for every host: what a server would say is said here. */
const brokers = () => [
  filesBroker(memoryStore()),
  netBroker({
    fetch: async (url) =>
      new Response(`asked for ${url}`, { headers: { "x-b": "2", "content-type": "text/plain", "x-a": "1" } }),
  }),
];

export const packages: readonly ToolPackage[] = [...builtinTools, spell, ramp];

function shown(data: JsonValue | Uint8Array): string {
  if (data instanceof Uint8Array) return Array.from(data, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return typeof data === "string" ? data : canonicalJson(data);
}

/**
 * The same ten calls, byte for byte the same results, wherever they run.
 *
 * @param host none: the tools run inline
 */
export function describeTenCalls(name: string, tools: readonly AnyTool[], host?: () => Promise<IsolateHost>): void {
  describe(`the ten calls on ${name}`, () => {
    let kernel: Kernel;
    beforeAll(async () => {
      kernel = await createKernel({ policy, brokers: brokers(), ...(host && { host: await host() }) });
      for (const tool of tools) expect(registerAny(kernel, tool)).toMatchObject({ ok: true });
    });
    afterAll(async () => {
      await expectSoundLog(kernel);
      await kernel.close();
    });

    it.each(tenCalls.map((golden, index) => ({ index, ...golden })))(
      "$index: $tool",
      async ({ tool, input, output, hash }) => {
        const result = await kernel.call(tool, input, { sessionId: "ten-calls" });
        if (!result.ok) throw new Error(`${result.error.code}: ${result.error.message}`);
        expect({ output: shown(result.data), hash: result.hash }).toEqual({ output, hash });
      },
    );
  });
}
