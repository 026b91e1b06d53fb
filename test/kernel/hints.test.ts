import { type CallResult, createKernel, type ErrorCode, errorCodes, type JsonValue } from "@keyhole/kernel";
import { filesBroker, memoryStore } from "@keyhole/worker-host/brokers/files";
import { describe, expect, it } from "vitest";
import type { Scenario } from "../docs/scenario.ts";
import { play, scenarios } from "../docs/scenarios.ts";
import { granting, openPolicy, toolOf } from "../support/kernel.ts";

/** Words of what only an operator can change. */
const operatorWords =
  /\b(?:polic(?:y|ies)|posture|createKernel|manifests?|bounds\.|capabilities|grant to|regist(?:er|ry)|sink|broker|Content-Security-Policy)\b/i;

const errorOf = (result: CallResult): Record<string, unknown> => ({ ...(result.ok ? {} : result.error) });

describe("the hint is for the model, the operatorHint for people", () => {
  it.each(errorCodes)("%s: the hint names nothing that only an operator can change", async (code: ErrorCode) => {
    const list: readonly Scenario[] = scenarios[code];
    for (const { result } of await Promise.all(list.map(play))) {
      const { hint, operatorHint } = errorOf(result);
      expect(operatorHint).toBeTypeOf("string");
      expect(hint).not.toMatch(operatorWords);
    }
  });
});

/** A tool that reads a file, and returns all that it learns of the refusal. */
const nosy = toolOf(
  async (_: never, { files }: { files: { read(path: string): Promise<Uint8Array> } }) =>
    files.read("private/diary.txt").then(
      () => "read",
      (error: Error) => ({ ...error, message: error.message }) as unknown as JsonValue,
    ),
  { effects: ["fs.read"], determinism: "external", capabilities: [{ kind: "fs.read", paths: ["**"] }] },
);

describe("a tool is not told the operatorHint", () => {
  it("of a request that was refused", async () => {
    const kernel = await createKernel({
      policy: granting({ kind: "fs.read", paths: ["notes/**"] }),
      brokers: [filesBroker(memoryStore())],
    });
    kernel.registerTrusted(nosy);
    const result = await kernel.call("subject", {});
    expect(result.ok && Object.keys(result.data as object).toSorted()).toEqual(["code", "hint", "message", "name"]);
    expect(JSON.stringify(result.ok && result.data)).not.toContain("to the grants of the policy");
  });

  it("of a call that it made", async () => {
    const kernel = await createKernel({ policy: granting({ kind: "tool.call", tools: ["*"] }) });
    kernel.registerTrusted(nosy);
    kernel.registerTrusted(
      toolOf(
        async (_: never, { tools }: { tools: { call(name: string, input: unknown): Promise<unknown> } }) =>
          tools.call("subject", {}),
        { name: "outer", determinism: "external", capabilities: [{ kind: "tool.call", tools: ["*"] }] },
      ),
    );
    const result = await kernel.call("outer", {});
    const answer = result.ok ? (result.data as { error: object }) : expect.unreachable(JSON.stringify(result));
    expect(answer.error).toMatchObject({ code: "CAPABILITY_DENIED" });
    expect(Object.keys(answer.error)).not.toContain("operatorHint");
    expect(JSON.stringify(answer)).not.toContain("to the grants of the policy");
  });

  it("and the caller is told both", async () => {
    const kernel = await createKernel({ policy: openPolicy });
    kernel.registerTrusted(nosy);
    const error = errorOf(await kernel.call("subject", {}));
    expect(error["operatorHint"]).toMatch(/policy/);
    expect(error["hint"]).not.toBe("");
  });
});
