import { checkTrustedTool, createKernel, type JsonObject, type ToolContext } from "@keyhole/kernel";
import { memoryKv, kvBroker } from "@keyhole/worker-host/brokers/kv";
import { describe, expect, it } from "vitest";
import { granting, toolOf } from "../support/kernel.ts";

const input: JsonObject = {
  type: "object",
  properties: { key: { type: "string" }, list: { type: "array", items: { type: "string" } } },
  additionalProperties: false,
};

const tool = (target: unknown, more: object = {}) =>
  toolOf(async ({ key }: { key: string }, { kv }: ToolContext) => kv.get(key).then(() => 1), {
    effects: ["kv.read"],
    determinism: "external",
    input,
    capabilities: [{ kind: "kv.read", keys: ["*"], target }],
    ...more,
  });

describe("a manifest whose target", () => {
  it.each<[string, unknown, string]>([
    ["is a bare pointer", "/key", "/capabilities/0/target"],
    ["names no part", {}, "/capabilities/0/target"],
    ["names a part of another kind", { key: "/key", path: "/key" }, "/capabilities/0/target"],
    ["is no pointer", { key: "key" }, "/capabilities/0/target/key"],
    ["has a wrong escape", { key: "/a~2" }, "/capabilities/0/target/key"],
    ["is the whole input", { key: "" }, "/capabilities/0/target/key"],
    ["is nowhere in the input", { key: "/kye" }, "/capabilities/0/target/key"],
    ["is a list", { key: "/list" }, "/capabilities/0/target/key"],
    ["is a key of the prototype", { key: "/constructor/name" }, "/capabilities/0/target/key"],
    ["is the prototype", { key: "/__proto__" }, "/capabilities/0/target/key"],
    ["has a getter for a part", JSON.parse('{"__proto__":"/key"}'), "/capabilities/0/target"],
  ])("%s is refused at registration", (_, target, path) => {
    const checked = checkTrustedTool(tool(target));
    expect(checked).toMatchObject({ ok: false, error: { code: "INVALID_MANIFEST" } });
    expect(!checked.ok && checked.error.path.startsWith(path.replace(/\/key$/, ""))).toBe(true);
  });

  it.each(["clock", "random"])("is of the kind %s, which has none, is refused, and said so", (kind) => {
    const checked = checkTrustedTool(tool({}, { capabilities: [{ kind, target: { key: "/key" } }] }));
    expect(checked).toMatchObject({ ok: false, error: { message: expect.stringContaining("target") } });
  });
});

it("keys of the prototype in the arguments name no target", async () => {
  const open = { type: "object" };
  const kernel = await createKernel({
    policy: granting({ kind: "kv.read", keys: ["a"] }),
    brokers: [kvBroker(memoryKv())],
  });
  for (const [index, at] of ["/constructor", "/toString/name", "/__proto__", "/key/length"].entries()) {
    const name = `subject_${index}`;
    expect(kernel.registerTrusted(tool({ key: at }, { name, input: open }))).toMatchObject({ ok: true });
    expect(await kernel.call(name, { key: "a" })).toMatchObject({ ok: true });
  }
});

it("an argument that changes after it was read is decided and used as it was", async () => {
  const asked: unknown[] = [];
  const kernel = await createKernel({
    policy: {
      ...granting({ kind: "kv.read", keys: ["a"] }),
      rules: [{ id: "ask", effect: "ask", when: {}, reason: "Why?" }],
    },
    brokers: [kvBroker(memoryKv())],
    approver: async (question) => {
      asked.push(question.input);
      given.key = "b";
      return { answer: "allow", scope: "once", approver: "ada" };
    },
  });
  kernel.registerTrusted(tool({ key: "/key" }));
  const given = { key: "a" };
  expect(await kernel.call("subject", given)).toMatchObject({ ok: true });
  let reads = 0;
  const twoFaced = Object.defineProperty({}, "key", { enumerable: true, get: () => (reads++ === 0 ? "a" : "b") });
  expect((await kernel.call("subject", twoFaced)).ok).toBe(false);
  expect(asked).toEqual([{ key: "a" }]);
});
