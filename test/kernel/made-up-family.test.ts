import {
  type ApprovalRequest,
  type Broker,
  createKernel,
  defineTool,
  type Kernel,
  type PolicyDocument,
} from "@keyhole/kernel";
import { Families } from "@keyhole/kernel/families";
import { describe, expect, it } from "vitest";
import { capabilityText, effectText } from "../../packages/playground/src/app/capability-words.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { expectSoundLog } from "../support/kernel.ts";
import { mqttGuest, mqttPublish } from "./families/mqtt-publish.ts";

/** The kind stands in one file, and nothing of the kernel knows it. */
const declared = { kind: "mqtt.publish", topics: ["sensors/#", "alarms/#"] } as const;

const publish = defineTool({
  name: "publish",
  version: "1.0.0",
  description: "Publishes messages.",
  effects: ["mqtt.publish"],
  determinism: "external",
  capabilities: [declared],
  input: { type: "object", properties: { topics: { type: "array", items: { type: "string" } } }, required: ["topics"] },
  output: { kind: "json" },
  async execute({ topics }: { readonly topics: readonly string[] }, { request }) {
    const { publish: send } = mqttGuest(request);
    for (const topic of topics) await send(topic, "21 °C");
    return topics.length;
  },
});

function brokerOf(sent: string[]): Broker {
  return {
    families: [mqttPublish],
    needs: ({ arguments: { topic } }) => ({ ok: true, needs: [{ kind: "mqtt.publish", topic: String(topic) }] }),
    async serve({ arguments: { topic } }, { spend }) {
      const error = spend({ requests: 1 });
      if (error) return { ok: false, error };
      sent.push(String(topic));
      return { ok: true, value: null };
    },
  };
}

const policy: PolicyDocument = {
  version: "1",
  posture: "permissive",
  grants: [{ tool: "publish", capability: { kind: "mqtt.publish", topics: ["sensors/#", "alarms/#"], messages: 2 } }],
  rules: [
    {
      id: "no-fire",
      effect: "deny",
      when: { topic: ["alarms/fire"] },
      reason: "The fire alarm is for people.",
      examples: {
        match: [{ capability: "mqtt.publish", topic: "Alarms/Fire" }],
        notMatch: [{ capability: "mqtt.publish", topic: "alarms/door" }],
      },
    },
  ],
  tools: { publish: { topics: { forbidden: ["sensors/secret/#"] } } },
};

const publishOne: PolicyDocument = {
  version: "1",
  posture: "permissive",
  grants: [{ tool: "publish_one", capability: { kind: "mqtt.publish", topics: ["sensors/#"] } }],
};

const publishTo = defineTool({
  name: "publish_one",
  version: "1.0.0",
  description: "Publishes one message.",
  effects: ["mqtt.publish"],
  determinism: "external",
  capabilities: [{ ...declared, target: { topic: "/to" } }],
  input: { type: "object", properties: { to: { type: "string" } }, required: ["to"] },
  output: { kind: "json" },
  async execute({ to }, { request }) {
    await mqttGuest(request).publish(to, "21 °C");
    return to;
  },
});

interface Bench {
  readonly kernel: Kernel;
  readonly sent: string[];
}

async function open(document: unknown = policy, more: object = {}): Promise<Bench> {
  const sent: string[] = [];
  const brokers = [brokerOf(sent)];
  const kernel = await createKernel({ policy: document, brokers, clock: new FakeClock(), ...more });
  expect(kernel.registerTrusted(publish)).toMatchObject({ ok: true });
  expect(kernel.registerTrusted(publishTo)).toMatchObject({ ok: true });
  return { kernel, sent };
}

const denied = { ok: false, error: { code: "CAPABILITY_DENIED" } };

describe("a made-up kind, brought by its broker", () => {
  it("goes from declaration and grant through the gate into the log", async () => {
    const { kernel, sent } = await open();
    const result = await kernel.call("publish", { topics: ["sensors/a", "alarms/door"] });
    expect(result).toMatchObject({ ok: true, data: 2, effects: ["mqtt.publish"] });
    expect(sent).toEqual(["sensors/a", "alarms/door"]);
    const events = await kernel.audit.read();
    expect(events.filter(({ type }) => type === "capability.used")).toMatchObject([
      { payload: { kind: "mqtt.publish", operation: "publish", target: "sensors/a", outcome: "ok" } },
      { payload: { kind: "mqtt.publish", operation: "publish", target: "alarms/door", outcome: "ok" } },
    ]);
    await expectSoundLog(kernel);
  });

  it.each([
    ["no grant covers", "other"],
    ["a rule denies, in letters of any case", "Alarms/FIRE"],
    ["the list of the tool forbids", "sensors/secret/a"],
  ])("a request that %s is refused at the gate", async (_, topic) => {
    const { kernel, sent } = await open();
    expect(await kernel.call("publish", { topics: [topic] })).toMatchObject(denied);
    expect(sent).toEqual([]);
    await expectSoundLog(kernel);
  });

  it("is charged against the budget of its grant", async () => {
    const { kernel, sent } = await open();
    const topics = ["sensors/a", "sensors/b", "sensors/c"];
    expect(await kernel.call("publish", { topics })).toMatchObject({ ok: false, error: { code: "BOUNDS_EXCEEDED" } });
    expect(sent).toEqual(["sensors/a", "sensors/b"]);
  });

  it("is narrowed by the grants of one call, and taken away by a revocation", async () => {
    const { kernel, sent } = await open();
    const grants = [{ kind: "mqtt.publish", topics: ["sensors/#"] }] as const;
    expect(await kernel.call("publish", { topics: ["alarms/door"] }, { grants })).toMatchObject(denied);
    await kernel.grants.revoke({ tool: "publish", kinds: ["mqtt.publish"] }, "The broker moved.");
    expect(await kernel.call("publish", { topics: ["sensors/a"] })).toMatchObject(denied);
    expect(sent).toEqual([]);
  });

  it("stands in the question of an approval", async () => {
    const asked: ApprovalRequest[] = [];
    const approver = async (
      request: ApprovalRequest,
    ): Promise<{ answer: "deny"; approver: string; reason: string }> => {
      asked.push(request);
      return { answer: "deny", approver: "ada", reason: "no" };
    };
    const rule = { id: "ask", effect: "ask", when: { capability: ["mqtt.publish"] }, reason: "May it publish?" };
    const { kernel } = await open({ ...policy, rules: [rule] }, { approver });
    await kernel.call("publish", { topics: ["sensors/a"] });
    expect(asked).toMatchObject([{ grants: ["mqtt.publish sensors/#, alarms/#"] }]);
  });

  it("has targets that arguments name: nobody is asked for one that no grant covers", async () => {
    let asked = 0;
    const approver = async () => ({ answer: "allow", scope: "once", approver: `ada ${asked++}` }) as const;
    const ask = { id: "ask", effect: "ask", when: { tool: ["publish_one"] }, reason: "May it publish?" };
    const { kernel, sent } = await open({ ...publishOne, rules: [ask] }, { approver });
    expect(await kernel.call("publish_one", { to: "other" })).toMatchObject({ ...denied, meta: { attempts: 0 } });
    expect(await kernel.call("publish_one", { to: "sensors/#" })).toMatchObject({ error: { code: "INVALID_INPUT" } });
    expect([asked, sent]).toEqual([0, []]);
    expect(await kernel.call("publish_one", { to: "sensors/a" })).toMatchObject({ ok: true });
    expect([asked, sent]).toEqual([1, ["sensors/a"]]);
  });

  it("has its words in the playground", () => {
    const families = new Families([mqttPublish]);
    expect(effectText("mqtt.publish", families)).toBe("Publishes messages");
    expect(capabilityText(declared, families)).toBe("mqtt.publish sensors/#, alarms/#");
  });
});

describe("a kernel without its broker", () => {
  it("refuses its tool, its grant and its grants of a call, and names the kind", async () => {
    const unknown = 'knows no kind "mqtt.publish"';
    await expect(createKernel({ policy })).rejects.toThrow(unknown);
    const kernel = await createKernel();
    expect(kernel.registerTrusted(publish)).toMatchObject({
      ok: false,
      error: { path: "/capabilities/0/kind", message: expect.stringContaining(unknown) },
    });
  });

  it("knows the kind by `families` alone, and refuses each request at the gate", async () => {
    const kernel = await createKernel({ policy, families: [mqttPublish] });
    kernel.registerTrusted(publish);
    expect(await kernel.call("publish", { topics: ["sensors/a"] })).toMatchObject(denied);
  });
});
