import type { JsonValue } from "../../json/json.ts";
import type { Ask } from "../ask.ts";
import type { Governed } from "../capability.ts";
import { defineFamily } from "../define-family.ts";
import type { Family } from "../family.ts";
import { isLiteral, isText, patterns } from "../fields.ts";
import { nameCondition } from "../matching/name-condition.ts";
import { checkName, checkNamePattern, matchName } from "../matching/names.ts";

declare module "../capability.ts" {
  interface CapabilityTypes {
    "tool.call": ToolCallCapability;
  }
  interface RequestConditions {
    /** Tools that the tool calls. */
    readonly calls?: readonly string[];
  }
  interface ToolLists {
    /** Patterns for names of tools that it calls. */
    readonly calls?: Governed;
  }
  interface NeedTypes {
    "tool.call": ToolCallNeed;
  }
}

export interface ToolCallCapability {
  readonly kind: "tool.call";
  /**
   * Names of tools: exact, `report_*` (a prefix) or `*`. The caller's access also narrows the
   * access of a called tool.
   */
  readonly tools: readonly string[];
}

interface ToolCallNeed {
  readonly kind: "tool.call";
  readonly tool: string;
}

/** Calling other tools. By itself it has no effect: each call has those of its own tool. */
export const toolCall: Family = /* @__PURE__ */ defineFamily<ToolCallCapability, ToolCallNeed>({
  kind: "tool.call",
  title: "Calls other tools",
  effect: "none",
  fields: { tools: /* @__PURE__ */ patterns(checkNamePattern) },
  need: { tool: isText },
  covers:
    ({ tools }) =>
    ({ tool }) =>
      tools.some((pattern) => matchName(pattern, tool)),
  describe: ({ tools }) => tools.join(", "),
  target: ({ tool }) => tool,
  narrowest: ({ tool }) => ({ kind: "tool.call", tools: [tool] }),
  isNarrow: ({ tools }) => isLiteral(tools),
  conditions: { calls: /* @__PURE__ */ nameCondition("calls", ({ tool }) => tool) },
  sample: ({ calls = "example" }) => ({ kind: "tool.call", tool: calls }),
  targetArguments: {
    required: ["tool"],
    needs({ tool = "" }) {
      const fault = checkName(tool);
      return fault ? `The tool's name is invalid: ${fault}.` : [{ kind: "tool.call", tool }];
    },
  },
  isCall: true,
});

export interface ToolCalls {
  readonly call: (name: string, input?: unknown) => Promise<ToolCallAnswer>;
}

/**
 * The answer of a called tool: never an exception for a fault of the tool, the policy or the input.
 */
export type ToolCallAnswer =
  | {
      readonly ok: true;
      readonly data: JsonValue;
      /** Of a tool that gives bytes; `data` is `null` then. */
      readonly bytes?: Uint8Array;
      readonly hash: string;
      readonly callId: string;
    }
  | {
      readonly ok: false;
      readonly error: {
        readonly code: string;
        readonly message: string;
        readonly details: JsonValue;
        readonly retryable: boolean;
        readonly hint: string;
      };
      readonly callId: string;
    };

/** The guest's half. */
export function toolsGuest(ask: Ask): ToolCalls {
  return {
    async call(name, input) {
      // The kernel copies it as JSON, and refuses what is none.
      const wanted = { name: String(name), input: (input === undefined ? {} : input) as JsonValue };
      const { value, body } = await ask<ToolCallAnswer>({ kind: "tool.call", operation: "call", arguments: wanted });
      return body && value.ok ? { ...value, bytes: body } : value;
    },
  };
}
