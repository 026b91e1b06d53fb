import {
  blake3Hash,
  type Approver,
  checkPackage,
  checkTrustedTool,
  IsolateFailure,
  manifestOf,
  packageHash,
  type ToolContext,
} from "@keyhole/kernel";
import { describe, expect, it } from "vitest";
import { errorOf, type Situation } from "../support/error-of.ts";
import { echo, openKernel, toolOf } from "../support/kernel.ts";
import { hostOpening, moduleHost, packed } from "../support/module-host.ts";

/*
 * The texts of the kernel about calls and packages, each once. Other tests assert codes and details.
 */

const asking = { version: "1", posture: "standard" } as const;

const elevated = toolOf(() => 1, { tier: 2 });

const dying = hostOpening("dying", () => Promise.reject(new IsolateFailure("ISOLATE_LOST", "It died.")));

const toolFailed = "Use other arguments or another tool.";

describe("the error of a call", () => {
  it.each<[string, Situation, string, string, string]>([
    ["to an unknown tool", { name: "ecko" }, "TOOL_NOT_FOUND", 'There is no tool "ecko".', "Did you mean echo?"],
    [
      "to a tool that was refused",
      { tool: toolOf(() => 1, { teir: 2 }) },
      "TOOL_NOT_FOUND",
      '"subject" was refused when it was registered: The value: expected no property "teir", got an object that has it.',
      "Use another tool.",
    ],
    [
      "that a rule denies",
      {
        input: { message: "x" },
        options: {
          policy: { ...asking, rules: [{ id: "no", effect: "deny", when: {}, reason: "Not today." }] },
        },
      },
      "POLICY_DENIED",
      "Not today.",
      "Do not repeat the call. Use another tool or other arguments, or tell the user.",
    ],
    [
      "that an approver denies",
      {
        tool: elevated,
        options: {
          policy: asking,
          approver: async () => ({ answer: "deny", approver: "ada", reason: "not today" }),
        },
      },
      "APPROVAL_DENIED",
      "ada denied the call. Reason: not today",
      "Do not repeat the call. Ask the user for the next step.",
    ],
    [
      "without an approver",
      { tool: elevated, options: { policy: asking } },
      "APPROVAL_DENIED",
      "The posture standard asks before it runs tools of tier 2 (elevated). The kernel has no approver.",
      "Do not repeat the call. Ask the user for the next step.",
    ],
    [
      "that the check of the tool refuses",
      { tool: toolOf(() => 1, { check: () => "odd is not even" }) },
      "INVALID_INPUT",
      "subject@1.0.0 refused the input: odd is not even",
      "Correct the arguments, then call again.",
    ],
    [
      "with references that are no boolean",
      { input: { message: "x" }, call: { references: "yes" as never } },
      "INVALID_INPUT",
      "`references` is not a boolean.",
      "Correct the options of the call.",
    ],
    [
      "with a mistyped bound",
      { call: { bounds: { timoutMs: 1 } as never } },
      "INVALID_INPUT",
      "`bounds` has no member `timoutMs`.",
      "Did you mean `timeoutMs`?",
    ],
    [
      "with a bound out of range",
      { call: { bounds: { timeoutMs: 0 } } },
      "INVALID_INPUT",
      "`bounds.timeoutMs` is not an integer from 1 to 900000.",
      "Correct the options of the call.",
    ],
    [
      "with null as bounds",
      { call: { bounds: null as never } },
      "INVALID_INPUT",
      "`bounds` is not an object.",
      "Correct the options of the call.",
    ],
    ["whose tool throws", { tool: toolOf(() => Promise.reject(new Error("boom"))) }, "TOOL_ERROR", "boom", toolFailed],
    [
      "whose tool uses a name that no isolate has",
      { tool: toolOf(() => Promise.reject(new ReferenceError("host is not defined"))) },
      "TOOL_ERROR",
      "host is not defined",
      toolFailed,
    ],
    [
      "whose tool is in quarantine",
      {
        tool: packed(toolOf(() => 1)),
        options: { host: dying },
        before: async (kernel) => {
          for (let i = 0; i < 3; i++) await kernel.call("subject", {});
        },
      },
      "ISOLATE_LOST",
      "subject@1.0.0 is in quarantine: its isolate failed 3 times in a row.",
      "Try again in 1 s.",
    ],
  ])("%s", async (_, situation, code, message, hint) => {
    expect(await errorOf(situation)).toMatchObject({ code, message, hint });
  });
});

it("a request for approval gives its reason in plain words", async () => {
  let reason = "";
  const approver: Approver = async (request) => {
    ({ reason } = request);
    return { answer: "deny", approver: "ada" };
  };
  await errorOf({ tool: elevated, options: { policy: asking, approver } });
  expect(reason).toBe("The posture standard asks before it runs tools of tier 2 (elevated).");
});

describe("the refusal of a package", () => {
  it("that is registered twice", async () => {
    const { kernel } = await openKernel();
    kernel.registerTrusted(echo);
    expect(kernel.registerTrusted(echo)).toMatchObject({ error: { message: "echo@1.0.0 is registered already." } });
  });

  it.each([
    ["capabilites", [{ kind: "clock" }], "capabilities"],
    ["efects", ["net.read"], "effects"],
    ["teir", 2, "tier"],
    ["determinsm", "external", "determinism"],
    ["bound", { timeoutMs: 1 }, "bounds"],
    ["aproval", "always", "approval"],
  ])("with the mistyped key %s names the intended key", (mistyped, value, meant) => {
    const message = `The value: expected no property "${mistyped}", got an object that has it.`;
    const error = { code: "INVALID_MANIFEST", path: "", message, hint: `Did you mean "${meant}"?` };
    expect(checkTrustedTool(toolOf(() => 1, { [mistyped]: value }))).toMatchObject({ ok: false, error });
  });

  it("without a key that authors may leave out names that key", () => {
    const { tier: _, ...rest } = manifestOf(echo, "module");
    const code = "export default {}";
    const without = { manifest: rest, code, hash: packageHash(rest as never, code, blake3Hash) };
    expect(checkPackage(without)).toMatchObject({
      ok: false,
      error: { code: "INVALID_MANIFEST", message: expect.stringContaining('the property "tier"') },
    });
  });
});

describe("the reason of verifyPure", () => {
  let count = 0;
  it.each<[string, ReturnType<typeof toolOf>, string]>([
    ["against a tool whose outcome varies", toolOf(() => count++), "Call 2 returned another output than call 1."],
    [
      "against a tool that asks for a capability",
      toolOf((_, { kv }: ToolContext) => kv.get("x").catch(() => 1)),
      "The tool asked for a capability.",
    ],
    [
      "for a tool that is not declared pure",
      toolOf(() => 1, { determinism: "seeded" }),
      "subject@1.0.0 says that it is seeded, not pure.",
    ],
  ])("%s", async (_, tool, reason) => {
    const { kernel } = await openKernel({ host: moduleHost(tool) });
    kernel.register(packed(tool));
    expect(await kernel.verifyPure("subject", [{}])).toMatchObject({ ok: false, reason });
  });
});
