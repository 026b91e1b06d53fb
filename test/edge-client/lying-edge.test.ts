import {
  type CallOptions,
  type CallResult,
  type CallSuccess,
  createKernel,
  type JsonObject,
  type JsonValue,
  type Kernel,
} from "@keyhole/kernel";
import { normalizers } from "@keyhole/kernel/normalizers";
import { memoryStore } from "@keyhole/worker-host/brokers/files";
import { contentStore } from "@keyhole/worker-host/content";
import { beforeAll, describe, expect, it } from "vitest";
import { granting, toolOf } from "../support/kernel.ts";
import { fakeNet } from "../support/nested.ts";
import { type Answer, answerOf, clientOf } from "./replayed-edge.ts";

const reversed = {
  name: "reversed",
  version: "1.0.0",
  normalize: (output: JsonValue | Uint8Array) => (Array.isArray(output) ? output.toReversed() : output),
};
const net = {
  determinism: "external",
  effects: ["net.read"],
  capabilities: [{ kind: "net.read", hosts: ["a.example"] }],
};
interface Net {
  fetch(url: string): Promise<unknown>;
}
const text = { output: { kind: "text" } };

/** One for each way in which an answer can look. */
const tools = [
  toolOf((input: object) => ({ ...input, n: 1 }), { name: "plain" }),
  toolOf(() => "a\r\nb", { name: "lines", ...text }),
  toolOf(() => Uint8Array.of(1, 2), { name: "bytes", output: { kind: "binary" } }),
  toolOf(() => ["b", "a"], { name: "custom", normalization: { custom: "reversed" } }),
  toolOf(() => "x".repeat(2_000_000), { name: "large", bounds: { outputBytes: 4_000_000 }, ...text }),
  toolOf(
    function* () {
      yield Uint8Array.of(1);
    },
    { name: "stream", output: { kind: "stream" } },
  ),
  toolOf((_: never, { fetch }: Net) => fetch("https://a.example/"), { name: "reads", ...net }),
  toolOf(
    async (_: never, { fetch }: Net) => {
      await fetch("https://a.example/");
      throw new Error("after the request");
    },
    { name: "fails", ...net },
  ),
  toolOf(() => 1, { name: "denied", tier: 4 }),
  toolOf(() => 1, { name: "strict", input: { type: "object", additionalProperties: false } }),
];

type Case = readonly [what: string, tool: string, options?: CallOptions, input?: JsonObject];
const cases: readonly Case[] = [
  ["data", "plain"],
  ["a text and what the tool gave", "lines", { raw: true }],
  ["bytes", "bytes"],
  ["a normal form of the edge's program", "custom", { raw: true }],
  ["a reference", "large", { references: true }],
  ["a stream whose bytes did not come", "stream"],
  ["a result with effects", "reads"],
  ["a failure with effects", "fails"],
  ["a result of an idempotency key", "reads", { idempotencyKey: "k" }],
  ["a failure of an idempotency key", "fails", { idempotencyKey: "k" }],
  ["a refusal", "denied"],
  ["a wrong input", "strict", {}, { a: 1 }],
  ["a tool that is not there", "nothing"],
];

let kernel: Kernel;
beforeAll(async () => {
  kernel = await createKernel({
    policy: granting({ kind: "net.read", hosts: ["a.example"] }),
    brokers: [fakeNet()],
    content: contentStore(memoryStore()),
    normalizers: normalizers([reversed]),
  });
  const registered = tools.map((tool) => kernel.registerTrusted(tool));
  if (!registered.every(({ ok }) => ok)) throw new Error(JSON.stringify(registered));
});

async function honest([, tool, options, input = {}]: Case): Promise<Answer> {
  if (options?.idempotencyKey !== undefined) await kernel.call(tool, input, options);
  return answerOf(kernel, tool, input, options);
}

/** What the client of such an edge gives its caller: a result, or a code. */
async function given(answer: Answer, [, tool, options, input = {}]: Case): Promise<CallResult | string> {
  return clientOf(answer)
    .call(tool, input, options)
    .catch((error: { readonly code: string }) => error.code);
}

type Place = readonly string[];

/** Of each value in a result, the groups of members included. */
function placesOf(value: unknown, at: Place = []): readonly Place[] {
  // The proof has its own digest.
  const isWhole = at[0] === "proof" || typeof value !== "object" || value === null;
  const inner = isWhole ? [] : Object.entries(value);
  return [...(at.length > 0 ? [at] : []), ...inner.flatMap(([name, each]) => placesOf(each, [...at, name]))];
}

/** Other values of the same type, and of members that can be absent. */
function othersOf(value: unknown): readonly unknown[] {
  if (typeof value === "number") return [value + 1];
  if (typeof value === "boolean") return [!value];
  if (Array.isArray(value)) return [[], ["other"]];
  if (typeof value !== "string") return [{}, { a: 1 }];
  return [value.replace(/.$/, (last) => (last === "0" ? "1" : "0"))];
}

function changed(value: unknown, [name, ...rest]: Place, other: unknown): unknown {
  if (name === undefined) return other;
  const copy = (Array.isArray(value) ? [...value] : { ...(value as object) }) as Record<string, unknown>;
  copy[name] = changed(copy[name], rest, other);
  return copy;
}

/** Members that the result does not have. */
const more: readonly (readonly [Place, unknown])[] = [
  [["raw"], "other"],
  [["reference"], { digest: `blake3:${"0".repeat(64)}`, byteLength: 7 }],
  [["meta", "fuelUsed"], 5],
  [["meta", "peakMemoryBytes"], 5],
  [["encoding"], "base64"],
  [["unknown"], 1],
];

describe("an answer of an edge with one other member", () => {
  it.for(cases)("is refused, or gives what the true one gives: %s", async (each) => {
    const answer = await honest(each);
    const truth = await given(answer, each);
    const { ok, effects, hash, meta } = answer.result as unknown as CallSuccess;
    const { durationMs: _, queuedMs: __, warnings: ___, ...vouched } = meta;
    expect(truth).toMatchObject({ ok, effects, ...(ok && { hash }), meta: { ...vouched, warnings: [] } });
    const places = placesOf(answer.result);
    const lies = places.flatMap((place) => {
      const value = place.reduce<unknown>((at, name) => (at as Record<string, unknown>)[name], answer.result);
      return othersOf(value).flatMap((other) => (Object.is(other, value) ? [] : [[place, other] as const]));
    });
    for (const [place, other] of [...lies, ...more]) {
      const result = changed(answer.result, place, other) as JsonObject;
      const passed = await given({ ...answer, result }, each);
      const isRefused = passed === "EDGE_UNTRUE" || passed === "EDGE_NOT_UNDERSTOOD";
      if (!isRefused) expect({ place, other, passed }).toEqual({ place, other, passed: truth });
    }
  });
});
