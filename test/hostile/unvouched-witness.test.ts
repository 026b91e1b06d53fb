import { type AuditEvent, createKernel, hashJson, type JsonObject, type JsonValue } from "@keyhole/kernel";
import { createProofKey, proofSigner, publicKeyOf, readEvidence, verifyProof } from "@keyhole/kernel/policy";
import { assert, asyncProperty, constantFrom, type JsonValue as AnyJson, jsonValue, nat, record } from "fast-check";
import { describe, expect, it } from "vitest";
import { readGiven } from "../../packages/playground/src/verify/read.ts";
import { wireResult } from "../../packages/edge/src/app/wire.ts";
import { runCommand } from "../../packages/keyhole/src/command/run-command.ts";
import { document as policy } from "../policy/recorded.ts";
import { ioOf } from "../support/command-files.ts";
import { checkpointOf, rechained } from "../support/forged-log.ts";
import { toolOf } from "../support/kernel.ts";
import { sized } from "../support/size.ts";
import { trusting } from "../support/trusted.ts";

const [owner, forger] = [await createProofKey(), await createProofKey()];

type Result = JsonObject & { readonly callId: string; readonly proof: JsonObject };

/** One call for each way to end, as JSON, and their log. */
async function recorded() {
  const kernel = await createKernel({
    policy,
    signer: await proofSigner(owner),
    approver: async () => ({ answer: "allow", scope: "once", approver: "ada" }),
  });
  const tools = {
    subject: toolOf(() => ({ paid: 10 }), { input: { type: "object" } }),
    note: toolOf(() => "one\r\ntwo", { name: "note", output: { kind: "text" } }),
    bytes: toolOf(() => new Uint8Array([1, 2]), { name: "bytes", output: { kind: "binary" } }),
    broken: toolOf(
      () => {
        throw new Error("no");
      },
      { name: "broken" },
    ),
  };
  for (const tool of Object.values(tools)) kernel.registerTrusted(tool);
  const call = async (name: string, input: JsonObject = { amount: 1 }, caller = "ada"): Promise<Result> => {
    const result = await kernel.call(name, input, { caller, sessionId: "s" });
    return JSON.parse(JSON.stringify(wireResult(result))) as Result;
  };
  const results = {
    completed: await call("subject"),
    approved: await call("subject", { amount: 101 }),
    text: await call("note"),
    binary: await call("bytes"),
    failed: await call("broken"),
    blocked: await call("subject", { amount: 1 }, "eve"),
  };
  const log = await kernel.audit.read();
  await kernel.close();
  return { results, log };
}

const own = await recorded();
/** Of the same owner and another kernel. */
const other = await recorded();
const trusted = await trusting(owner);
const wholeOf = { own: await checkpointOf(owner, own.log), other: await checkpointOf(owner, other.log) };
const names = Object.keys(own.results) as readonly (keyof typeof own.results)[];

/** The log in which a forged result stands as its call's end. */
function forgedFor(result: JsonObject, genuine: Result): readonly AuditEvent[] {
  const { ok, data = null, effects = [], error } = result;
  const isEnd = ({ callId, type }: AuditEvent): boolean =>
    callId === genuine.callId && ["tool.completed", "tool.failed", "tool.blocked"].includes(type);
  const { operatorHint: _, ...told } = (error ?? {}) as JsonObject;
  const end =
    ok === true
      ? { type: "tool.completed", payload: { outputHash: hashJson(data), outputBytes: 1, effects } }
      : { type: "tool.failed", payload: { code: told["code"] ?? "INTERNAL", errorHash: hashJson(told), effects } };
  return rechained(own.log, (event) => (isEnd(event) ? ({ ...event, ...end } as unknown as AuditEvent) : event));
}

const logs = ["none", "own", "forged", "other", "cut", "empty"] as const;
const checkpoints = ["none", "whole", "part", "forger", "other", "relabelled"] as const;
const changes = ["none", "set", "delete", "add"] as const;
const unrecorded = ["meta", "proof"];

interface Case {
  readonly name: (typeof names)[number];
  readonly change: (typeof changes)[number];
  readonly member: number;
  readonly value: AnyJson;
  readonly log: (typeof logs)[number];
  readonly checkpoint: (typeof checkpoints)[number];
  readonly size: number;
}

/** A change of the result, and whether it states something else afterwards. */
function changed({ name, change, member, value }: Case): { readonly result: Result; readonly isOther: boolean } {
  const genuine = own.results[name];
  const members = Object.keys(genuine).filter((each) => !unrecorded.includes(each));
  const at = members[member % members.length]!;
  const plain = JSON.parse(JSON.stringify(value)) as JsonValue;
  const { [at]: before, ...rest } = genuine;
  if (change === "set") return { result: { ...genuine, [at]: plain }, isOther: hashJson(before!) !== hashJson(plain) };
  // The encoding without its data is a member that no log records.
  const isPart = at === "encoding" || (at === "data" && "encoding" in rest);
  if (change === "delete") return { result: rest as Result, isOther: at === "ok" || isPart };
  if (change === "add") return { result: { ...genuine, paid: plain }, isOther: true };
  return { result: genuine, isOther: false };
}

/** Of a log without the last events, a call that ended before is all there. */
function endOf({ callId }: Result): number {
  return own.log.findLastIndex((event) => event.callId === callId);
}

const plainOf = (value: unknown): JsonValue => JSON.parse(JSON.stringify(value)) as JsonValue;

async function evidenceOf(each: Case) {
  const { name, log, checkpoint } = each;
  const { result, isOther } = changed(each);
  // With a forged log the result gets the digest of its data, too.
  const isHashed = log === "forged" && result["hash"] !== undefined;
  const claims = { ...result, ...(isHashed && { hash: hashJson(result["data"] ?? null) }) };
  const part = each.size % own.log.length;
  const events = {
    none: () => undefined,
    own: () => own.log,
    forged: () => forgedFor(claims, own.results[name]),
    other: () => other.log,
    cut: () => own.log.slice(0, part),
    empty: () => [],
  }[log]();
  const held = {
    none: () => [],
    whole: () => [wholeOf.own],
    part: async () => [await checkpointOf(owner, own.log, part)],
    forger: async () => [await checkpointOf(forger, events ?? own.log)],
    other: () => [wholeOf.other],
    relabelled: () => [{ ...wholeOf.own, size: part }],
  }[checkpoint]();
  const file = { ...claims, ...(events && { events }), checkpoints: await held, keys: [publicKeyOf(forger)] };
  // Forged for a failure that stands in it, the log is the owner's own.
  const isOwn = log === "own" || (log === "forged" && hashJson(plainOf(events)) === hashJson(plainOf(own.log)));
  const isVouched =
    (isOwn && checkpoint === "whole") || (log === "cut" && checkpoint === "part" && endOf(own.results[name]) < part);
  return { file: JSON.parse(JSON.stringify(file)) as JsonValue, isGenuine: isVouched && !isOther };
}

describe("evidence that was changed without the key", () => {
  it("has one result for each way to end", () => {
    const ends = Object.values(own.results).map(({ ok, error }) => ok || (error as JsonObject)["code"]);
    expect(ends).toEqual([true, true, true, true, "TOOL_ERROR", "POLICY_DENIED"]);
  });

  it("is verified exactly where nothing was changed, and a trusted key signed the whole log", async () => {
    let verified = 0;
    const cases = record<Case>({
      name: constantFrom(...names),
      change: constantFrom(...changes),
      member: nat(20),
      value: jsonValue(),
      log: constantFrom(...logs),
      checkpoint: constantFrom(...checkpoints),
      size: nat(1_000),
    });
    const holds = asyncProperty(cases, async (each) => {
      const { file, isGenuine } = await evidenceOf(each);
      const read = readEvidence(file);
      const verdict = read.ok
        ? (await verifyProof(read.value.proof, read.value.evidence, trusted)).verdict
        : "unusable";
      expect(verdict === "verified").toBe(isGenuine);
      if (isGenuine) verified++;
    });
    const genuine = names.flatMap((name) => {
      const each = { name, member: 0, value: 1, log: "own", checkpoint: "whole", size: 0 } as const;
      return [
        [{ ...each, change: "none" }],
        [{ ...each, change: "set" }],
        [{ ...each, change: "none", log: "forged" }],
        ...Object.keys(own.results[name]).map((_, member): [Case] => [{ ...each, change: "delete", member }]),
      ] satisfies [Case][];
    });
    await assert(holds, { numRuns: genuine.length + sized(100, 5_000), examples: genuine });
    expect(verified).toBeGreaterThanOrEqual(names.length);
  });
});

const wholeFile = (result: JsonObject, more: object = {}): JsonValue =>
  JSON.parse(JSON.stringify({ ...result, events: own.log, checkpoints: [wholeOf.own], ...more })) as JsonValue;

async function reportOn(file: JsonValue) {
  const read = readEvidence(file);
  if (!read.ok) throw new Error(read.message);
  return verifyProof(read.value.proof, read.value.evidence, trusted);
}

describe("a log that no trusted key signed", () => {
  const { completed } = own.results;
  const claims = { ...completed, data: { paid: 99_999 }, hash: hashJson({ paid: 99_999 }), effects: ["net.write"] };
  const events = forgedFor(claims, completed);
  const files = { k: publicKeyOf(owner), log: events, beside: claims, inside: { ...claims, events } };

  it.each(["verify beside --keys k --log log", "verify inside --keys k"])(
    "makes no forged result verified: %s",
    async (line) => {
      const { exitCode, output } = await runCommand(line.split(" "), ioOf(files));
      expect(exitCode).toBe(3);
      expect(output).toMatch(/^~ level 1 {2}result +unvouched: it holds in this log\. /m);
      expect(output).toMatch(/^Intact, but unvouched: no trusted key vouches for the log: /m);
      const inJson = await runCommand([...line.split(" "), "--json"], ioOf(files));
      expect(JSON.parse(inJson.output)).toMatchObject({ verdict: "unvouched", vouchedBy: { kind: "nobody" } });
    },
  );

  it("makes none verified in the page either, nor does a tool that takes the place of the result's", async () => {
    const given = { events: "", checkpoints: "", policy: "", tool: "", input: "", keys: JSON.stringify(files.k) };
    const verdictOf = async (document: object, more: object = {}): Promise<string> => {
      const read = await readGiven({ ...given, ...more, proof: JSON.stringify(document) });
      if (!read.ok) return `${read.member}: ${read.message}`;
      const { proof, evidence, trusted } = read.value;
      return (await verifyProof(proof, evidence, trusted)).verdict;
    };
    expect(await verdictOf(files.inside)).toBe("unvouched");
    expect(await verdictOf(files.beside)).toBe("unvouched");
    expect(await verdictOf(completed["proof"])).toBe("verified");
    expect(await verdictOf(files.beside, { tool: JSON.stringify("subject@1.0.0") })).toMatch(/^tool: /);
    const other = { ...completed, tool: "other@1.0.0", events: own.log, checkpoints: [wholeOf.own] };
    expect(await verdictOf(other, { tool: JSON.stringify({ manifest: { name: "other" } }) })).toBe("broken");
  });
});

describe("a member of a file that no witness records", () => {
  it.each<[string, JsonObject, RegExp]>([
    ["the raw output", { raw: { paid: 99_999 } }, /these members of the result: raw\.$/],
    ["a member without a meaning", { note: "x", more: 1 }, /: note, more\.$/],
    ["an error of a success", { error: { code: "INTERNAL" } }, /: error\.$/],
    ["a null where the output stands elsewhere", { data: null }, /: data\.$/],
  ])("keeps the file from being verified: %s", async (_, more, reason) => {
    expect(await reportOn(wholeFile({ ...own.results.completed, ...more }))).toMatchObject({
      verdict: "unvouched",
      vouchedBy: { reason: expect.stringMatching(reason) },
    });
  });

  it("is no part of the verdict where it is a measure of the host or a hint for the operator", async () => {
    const { failed } = own.results;
    const error = { ...(failed["error"] as JsonObject), operatorHint: "Another hint." };
    expect(await reportOn(wholeFile({ ...failed, error, meta: {} }))).toMatchObject({ verdict: "verified" });
  });

  it("is a reference to the recorded output, or broken", async () => {
    const { data: _, ...rest } = own.results.completed;
    const text = JSON.stringify({ paid: 10 });
    const reference = { digest: rest["hash"]!, byteLength: text.length, mediaType: "application/json" };
    expect(await reportOn(wholeFile({ ...rest, data: null, reference }))).toMatchObject({ verdict: "verified" });
    const longer = { ...reference, byteLength: text.length + 1 };
    expect(await reportOn(wholeFile({ ...rest, data: null, reference: longer }))).toMatchObject({ verdict: "broken" });
  });

  it("is the end of a call that the log has not", async () => {
    const error = { code: "SUSPENDED", message: "m", details: null, retryable: false, hint: "" };
    const { failed } = own.results;
    expect(await reportOn(wholeFile({ ...failed, error }))).toMatchObject({
      verdict: "unvouched",
      vouchedBy: { reason: "The log does not have the end of this call." },
    });
  });
});

describe("evidence for a level that is incomplete", () => {
  const { proof } = own.results.approved;

  it.each<[string, JsonObject, string]>([
    ["the input of the call", { input: { amount: 101 } }, "verified"],
    ["another input", { input: { amount: 1 } }, "broken"],
    ["the policy", { policy: policy }, "verified"],
    ["another policy", { policy: { version: "1", posture: "standard" } }, "broken"],
    ["another tool", { tool: { manifest: { name: "other", version: "1.0.0" } } }, "broken"],
    ["grants", { grants: [] }, "unvouched"],
    ["variables", { variables: {} }, "unvouched"],
  ])("is compared as far as the proof names it: %s", async (_, more, verdict) => {
    expect(await reportOn({ proof, ...more })).toMatchObject({ verdict });
  });
});
