import {
  type ApprovalRequest,
  createKernel,
  type JsonValue,
  type Kernel,
  policy as policyOf,
  type PolicyDocument,
  type ToolContext,
} from "@keyhole/kernel";
import { explain, simulate, verifyProof } from "@keyhole/kernel/policy";
import { filesBroker, memoryStore } from "@keyhole/worker-host/brokers/files";
import { netBroker } from "@keyhole/worker-host/brokers/net";
import { describe, expect, it } from "vitest";
import saveNote from "../../../packages/keyhole/templates/any/tools/save-note.ts";
import httpFetch from "../../../packages/worker-host/src/tools/http-fetch.ts";
import { expectSoundLog, toolOf } from "../../support/kernel.ts";
import { type AnyTool, registerAny } from "../../support/registered.ts";

const policy: PolicyDocument = {
  version: "1",
  posture: "standard",
  grants: [
    { tool: "*", capability: { kind: "fs.write", paths: ["notes/**"] } },
    { tool: "*", capability: { kind: "net.read", hosts: ["example.com"], paths: ["/docs"] } },
  ],
  rules: [
    { id: "no-keys", effect: "deny", when: { path: ["**/keys"] }, reason: "Keys stay here." },
    { id: "ask", effect: "ask", when: { tool: ["http_fetch"] }, reason: "It reaches the network." },
  ],
};

interface World {
  readonly kernel: Kernel;
  readonly asked: ApprovalRequest[];
  readonly sent: string[];
}

async function open(tool: AnyTool, document: PolicyDocument = policy): Promise<World> {
  const asked: ApprovalRequest[] = [];
  const sent: string[] = [];
  const send = async (url: string): Promise<Response> => {
    sent.push(url);
    return new Response("ok");
  };
  const kernel = await createKernel({
    policy: document,
    brokers: [filesBroker(memoryStore()), netBroker({ fetch: send })],
    approver: async (question) => {
      asked.push(question);
      return { answer: "allow", scope: "once", approver: "ada" };
    },
  });
  registerAny(kernel, tool);
  return { kernel, asked, sent };
}

const note = (path: string): JsonValue => ({ path, text: "Milk." });
const deniedBefore = { ok: false, error: { code: "CAPABILITY_DENIED" }, meta: { attempts: 0 } };

describe("a call whose arguments name a target", () => {
  it("asks a person where the target is granted, and runs", async () => {
    const { kernel, asked } = await open(saveNote);
    expect(await kernel.call("save_note", note("notes/today.txt"))).toMatchObject({ ok: true });
    expect(asked).toHaveLength(1);
  });

  it.each([
    ["no grant covers", "private/diary.txt", "not-granted", "does not grant fs.write of private/diary.txt"],
    ["a rule denies", "notes/KEYS", "forbidden", "Keys stay here. (Rule no-keys.)"],
  ])("is denied before anybody is asked where %s it", async (_, path, reason, said) => {
    const { kernel, asked } = await open(saveNote);
    const result = await kernel.call("save_note", note(path), { caller: "ada" });
    expect(result).toMatchObject({
      ...deniedBefore,
      error: { code: "CAPABILITY_DENIED", message: expect.stringContaining(said), details: { reason } },
      proof: { decision: "deny", reasonCode: "target-denied", request: { kind: "fs.write", target: path, reason } },
    });
    expect(asked).toEqual([]);
    expect((await kernel.audit.read()).map(({ type }) => type)).not.toContain("tool.started");
    await expectSoundLog(kernel);
  });

  it("names the narrowest grant for the target, and what is granted", async () => {
    const { kernel } = await open(saveNote);
    const result = await kernel.call("save_note", note("private/a.txt"), { caller: "ada" });
    expect(result).toMatchObject({
      error: {
        hint: "Granted: fs.write notes/**.",
        operatorHint: `Add it to the grants of the policy: ${JSON.stringify({
          tool: "save_note",
          caller: "ada",
          capability: { kind: "fs.write", paths: ["private/a.txt"] },
        })}`,
      },
    });
  });

  it("is denied where the grants of the call leave the target out", async () => {
    const { kernel, asked } = await open(saveNote);
    const grants = [{ kind: "fs.write", paths: ["notes/b"] }] as const;
    const result = await kernel.call("save_note", note("notes/a"), { grants });
    expect(result).toMatchObject({ ...deniedBefore, error: { details: { reason: "narrowed" } } });
    expect(asked).toEqual([]);
  });

  it("meets grants, and no rule, where the policy only observes", async () => {
    const { kernel } = await open(saveNote, { ...policy, enforcement: "observe" });
    expect(await kernel.call("save_note", note("notes/keys"))).toMatchObject({ ok: true });
    expect(await kernel.call("save_note", note("private/a"))).toMatchObject(deniedBefore);
  });

  it("is decided anew when an approver changes the arguments", async () => {
    const kernel = await createKernel({
      policy,
      brokers: [filesBroker(memoryStore())],
      approver: async () => ({ answer: "edit", approver: "ada", input: note("private/a") }),
    });
    registerAny(kernel, saveNote);
    expect(await kernel.call("save_note", note("notes/a"))).toMatchObject(deniedBefore);
  });

  it("is refused as invalid input where no request can have the target", async () => {
    const { kernel, asked } = await open(saveNote);
    expect(await kernel.call("save_note", note("../up"))).toMatchObject({
      ok: false,
      error: {
        code: "INVALID_INPUT",
        message: "The argument /path cannot name a target of fs.write. The path is invalid: a path has no `.` or `..`.",
        details: [{ path: "/path", keyword: "target" }],
      },
    });
    expect(asked).toEqual([]);
  });
});

describe("every view of the decision says the same", () => {
  const denied = note("private/a");

  it("preview", async () => {
    const { kernel } = await open(saveNote);
    const preview = await kernel.preview("save_note", denied);
    const result = await kernel.call("save_note", denied);
    expect(preview).toMatchObject({ decision: "deny", proof: { reasonCode: "target-denied" } });
    expect(preview.decision === "deny" && preview.error).toEqual(result.ok || result.error);
    expect(await kernel.preview("save_note", note("notes/a"))).toMatchObject({ decision: "ask" });
  });

  it("proof, offline", async () => {
    const { kernel } = await open(saveNote);
    const { proof } = await kernel.call("save_note", denied);
    const [{ manifest } = expect.unreachable()] = kernel.list();
    const evidence = { events: await kernel.audit.read(), policy, tool: { manifest }, input: denied };
    const { steps } = await verifyProof(proof, evidence);
    expect(steps.map(({ name, outcome }) => [name, outcome])).toEqual([
      ["digest", "passed"],
      ["signature", "skipped"],
      ["inclusion", "unvouched"],
      ["re-evaluation", "passed"],
      ["discharge", "unvouched"],
    ]);
    const wider = { ...policy, grants: [{ tool: "*", capability: { kind: "fs.write", paths: ["**"] } }] };
    expect((await verifyProof(proof, { ...evidence, policy: wider })).verdict).toBe("broken");
    const other = await verifyProof(proof, { ...evidence, input: note("private/b") });
    expect(other.verdict).toBe("broken");
    expect(explain(proof ?? expect.unreachable())).toMatchObject({
      summary: expect.stringContaining('fs.write of "private/a" (not-granted)'),
      toChange: ["Another request, or a grant that covers this one."],
    });
  });

  it("simulate", async () => {
    const { kernel } = await open(saveNote);
    const [{ manifest } = expect.unreachable()] = kernel.list();
    const loaded = policyOf(policy);
    const calls = ["private/a", "notes/a", "notes/keys", "../up"].map((path, index) => ({
      manifest,
      input: note(path),
      time: `2026-01-01T00:00:0${index}Z`,
    }));
    expect(loaded.ok && simulate(loaded.value, calls).map(({ after, reason }) => [after, reason])).toEqual([
      ["deny", "The policy does not grant fs.write of private/a."],
      ["ask", expect.any(String)],
      ["deny", "Keys stay here. (Rule no-keys.)"],
      ["deny", expect.stringContaining("cannot name a target")],
    ]);
  });
});

describe("a target with a method", () => {
  it.each([
    ["of a read", { url: "https://example.com/docs/a" }, true],
    ["of a read elsewhere", { url: "https://example.com/admin" }, false],
    ["of a write, whose kind is granted nowhere", { url: "https://example.com/docs/a", method: "POST" }, false],
  ])("is of its own kind alone: %s", async (_, input, isAsked) => {
    const { kernel, asked } = await open(httpFetch);
    const result = await kernel.call("http_fetch", input);
    expect(asked.length > 0).toBe(isAsked);
    expect(result).toMatchObject(isAsked ? { ok: true } : deniedBefore);
  });

  it("says which grant of an optional kind is missing", async () => {
    const { kernel } = await open(httpFetch);
    const result = await kernel.call("http_fetch", { url: "https://example.com/docs/a", method: "PUT" });
    expect(result).toMatchObject({
      error: {
        message: expect.stringContaining("needs net.write"),
        operatorHint: expect.stringContaining('"paths":["/docs/a"],"methods":["PUT"]'),
      },
    });
  });

  it("of an optional kind that was revoked denies the calls that name one", async () => {
    const write = { tool: "*", capability: { kind: "net.write", hosts: ["example.com"] } } as const;
    const { kernel, asked } = await open(httpFetch, { ...policy, grants: [...policy.grants!, write] });
    await kernel.grants.revoke({ tool: "http_fetch", kinds: ["net.write"] }, "Under review.");
    const url = "https://example.com/docs/a";
    expect(await kernel.call("http_fetch", { url, method: "POST" })).toMatchObject({
      ...deniedBefore,
      error: { details: { reason: "revoked" } },
    });
    expect(asked).toEqual([]);
    expect(await kernel.call("http_fetch", { url })).toMatchObject({ ok: true });
  });
});

/** Reads the files that its arguments name in places of every form. */
function readerAt(pointer: string, input: object): AnyTool {
  return toolOf(
    async ({ real = "notes/a" }: { real?: string }, { files }: ToolContext) => files.stat(real).then(() => 1),
    {
      effects: ["fs.read"],
      determinism: "external",
      input,
      capabilities: [{ kind: "fs.read", paths: ["**"], target: { path: pointer } }],
    },
  );
}
const text = { type: "string" };
const members = (properties: object): object => ({ type: "object", properties });
const reading: PolicyDocument = {
  version: "1",
  posture: "permissive",
  grants: [{ tool: "*", capability: { kind: "fs.read", paths: ["notes/**"] } }],
};

describe("where the argument is", () => {
  it.each<[string, string, object, JsonValue]>([
    ["in an object", "/in/path", members({ in: members({ path: text }) }), { in: { path: "x" } }],
    ["under a name with a slash and a tilde", "/a~1b~0c", members({ "a/b~c": text }), { "a/b~c": "x" }],
    ["in a list", "/paths/0", members({ paths: { type: "array", items: text } }), { paths: ["x"] }],
    ["a default of the schema", "/path", members({ path: { ...text, default: "x" } }), {}],
  ])("%s", async (_, pointer, schema, input) => {
    const { kernel } = await open(readerAt(pointer, schema), reading);
    expect(await kernel.call("subject", input)).toMatchObject({
      ...deniedBefore,
      proof: { request: { target: "x" } },
    });
  });

  it.each<[string, JsonValue]>([
    ["absent", {}],
    ["null", { path: null }],
  ])("%s: nothing is checked before the gate", async (_, input) => {
    const schema = members({ path: { type: ["string", "null"] } });
    const { kernel } = await open(readerAt("/path", schema), reading);
    expect(await kernel.call("subject", input)).toMatchObject({ proof: { decision: "allow" }, meta: { attempts: 1 } });
  });

  it.each<[string, JsonValue]>([
    ["a list", ["notes/a"]],
    ["a number", 1],
    ["an object", { path: "notes/a" }],
  ])("%s is no target, and refused", async (_, path) => {
    const { kernel } = await open(readerAt("/path", { type: "object" }), reading);
    expect(await kernel.call("subject", { path })).toMatchObject({ ok: false, error: { code: "INVALID_INPUT" } });
  });
});

it("a tool that then uses another target is refused at the gate", async () => {
  const { kernel } = await open(readerAt("/path", { type: "object" }), reading);
  expect(await kernel.call("subject", { path: "notes/a", real: "private/a" })).toMatchObject({
    ok: false,
    error: { code: "CAPABILITY_DENIED" },
    proof: { reasonCode: "request-denied", request: { target: "private/a" } },
    meta: { attempts: 1 },
  });
});
