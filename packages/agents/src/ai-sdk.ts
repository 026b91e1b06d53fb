import type { JsonObject, JsonValue, Progress } from "@keyhole/kernel";
import { encodeBase64 } from "@keyhole/kernel/context";
import type { AgentAnswer } from "./answer.ts";
import { type AgentKernel, type AgentOptions, type AgentTool, agentTools } from "./agent-tools.ts";
import type { FrameworkYes } from "./framework-approvals.ts";

export type { AgentAnswer, AgentKernel, AgentOptions };

/** The part of an answer that AI SDK 7 shows to a model. */
export type AiSdkModelOutput =
  | { readonly type: "json"; readonly value: JsonValue }
  | { readonly type: "text"; readonly value: string }
  | { readonly type: "error-json"; readonly value: JsonValue }
  | {
      readonly type: "content";
      readonly value: { type: "file"; mediaType: string; data: { type: "data"; data: string } }[];
    };

/** How far a call is: a preliminary result of AI SDK. */
export interface AiSdkProgress {
  readonly progress: Progress;
}

interface ExecutionOptions {
  readonly toolCallId: string;
  readonly messages: readonly unknown[];
  readonly abortSignal?: AbortSignal;
}

/** A dynamic tool of AI SDK 7. Its input schema is a Standard JSON Schema; the kernel checks the input. */
export interface AiSdkTool {
  readonly type: "dynamic";
  readonly title?: string;
  readonly description: string;
  readonly inputSchema: StandardSchema;
  execute(input: unknown, options: ExecutionOptions): AsyncGenerator<AiSdkProgress | AgentAnswer>;
  toModelOutput(options: { readonly output: unknown }): AiSdkModelOutput;
}

interface StandardSchema {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => { readonly value: unknown };
    readonly jsonSchema: {
      readonly input: () => Record<string, unknown>;
      readonly output: () => Record<string, unknown>;
    };
  };
}

/** Options of `generateText`, `streamText` and `ToolLoopAgent`. */
export interface AiSdkTools {
  readonly tools: Record<string, AiSdkTool>;
  readonly toolApproval: (options: {
    readonly toolCall: { readonly toolCallId?: string; readonly toolName: string; readonly input: unknown };
    readonly messages?: readonly unknown[];
  }) => Promise<{ type: "user-approval"; reason: string } | undefined>;
}

/**
 * The kernel's tools for AI SDK 7. The SDK asks its user where the policy asks; every other decision is the kernel's, and its errors reach the model as data. A yes is
 * taken from the messages: sign them with `experimental_toolApprovalSecret` where a client sends them.
 *
 * @throws TypeError for a name in `options.tools` that the kernel does not list
 * @example
 * const { text } = await generateText({ model, prompt, stopWhen: isStepCount(5), ...(await aiSdkTools(kernel)) });
 */
export async function aiSdkTools(kernel: AgentKernel, options: AgentOptions = {}): Promise<AiSdkTools> {
  const byName = new Map((await agentTools(kernel, options)).map((tool) => [tool.name, tool]));
  return {
    tools: Object.fromEntries([...byName].map(([name, tool]) => [name, aiSdkTool(tool)])),
    async toolApproval({ toolCall: { toolCallId = "", toolName, input }, messages = [] }) {
      const reason = await byName.get(toolName)?.question(input, callIn(messages, toolCallId).id);
      return reason === undefined ? undefined : { type: "user-approval", reason };
    },
  };
}

function aiSdkTool(tool: AgentTool): AiSdkTool {
  const { title, description, inputSchema } = tool;
  return {
    type: "dynamic",
    ...(title !== undefined && { title }),
    description,
    inputSchema: standardSchema(inputSchema),
    async *execute(input, { toolCallId, messages, abortSignal }) {
      // A reader that is slow gets the newest.
      let newest: AgentAnswer | AiSdkProgress = { progress: { done: 0 } };
      let turn = Promise.withResolvers<void>();
      const give = (part: AgentAnswer | AiSdkProgress): void => {
        newest = part;
        turn.resolve();
      };
      const left = new AbortController();
      const signal = AbortSignal.any([abortSignal ?? left.signal, left.signal]);
      const { id, parts } = callIn(messages, toolCallId);
      const approved = approvedCall(parts, toolCallId);
      const onProgress = (progress: Progress): void => give({ progress });
      let failure: { readonly error: unknown } | undefined;
      void tool.call(input, { id, signal, approved, onProgress }).then(give, (error: unknown) => {
        failure = { error };
        turn.resolve();
      });
      try {
        for (let isOver = false; !isOver;) {
          await turn.promise;
          if (failure) throw failure.error;
          turn = Promise.withResolvers();
          isOver = "ok" in newest;
          yield newest;
        }
      } finally {
        left.abort(); // A reader that leaves ends the call.
      }
    },
    toModelOutput: ({ output }) => modelOutput(output as AgentAnswer),
  };
}

function modelOutput(answer: AgentAnswer): AiSdkModelOutput {
  if (!answer.ok) return { type: "error-json", value: { ...answer.error } };
  const { data, mediaType, text } = answer;
  const isBytes = data instanceof Uint8Array;
  if (isBytes && mediaType !== undefined && text.includes('"base64"'))
    return { type: "content", value: [{ type: "file", mediaType, data: { type: "data", data: encodeBase64(data) } }] };
  const isJson = !isBytes && typeof data !== "string" && text === JSON.stringify(data);
  return isJson ? { type: "json", value: data } : { type: "text", value: text };
}

function standardSchema(schema: JsonObject): StandardSchema {
  const jsonSchema = (): Record<string, unknown> => ({ ...schema });
  const validate = (value: unknown): { readonly value: unknown } => ({ value });
  return {
    "~standard": { version: 1, vendor: "keyhole", validate, jsonSchema: { input: jsonSchema, output: jsonSchema } },
  };
}

interface Part {
  readonly type?: unknown;
  readonly toolCallId?: unknown;
  readonly toolName?: unknown;
  readonly input?: unknown;
  readonly approvalId?: unknown;
  readonly approved?: unknown;
}

/**
 * The call of a framework's id among the messages: a result ends the call, and the id then is another call's. `id` is the call's own, and `parts` are those since the
 * last result.
 */
function callIn(messages: readonly unknown[], toolCallId: string): { readonly id: string; readonly parts: Part[] } {
  let [results, parts]: [number, Part[]] = [0, []];
  for (const message of messages) {
    const { content } = message as { readonly content?: unknown };
    const all: readonly Part[] = Array.isArray(content) ? content : [];
    for (const part of all)
      if (part.type === "tool-result" && part.toolCallId === toolCallId) [results, parts] = [results + 1, []];
      else parts.push(part);
  }
  return { id: `${results} ${toolCallId}`, parts };
}

/** The call of this id that a person approved: a request of the SDK for it, and an answer to that request. None where two calls or requests have the id. */
function approvedCall(parts: readonly Part[], toolCallId: string): FrameworkYes | undefined {
  const [request, ...more] = parts.filter(
    (part) => part.type === "tool-approval-request" && part.toolCallId === toolCallId,
  );
  const approvalId = request?.approvalId;
  if (typeof approvalId !== "string" || more.length > 0) return undefined;
  const answers = parts.filter((part) => part.type === "tool-approval-response" && part.approvalId === approvalId);
  const [call, ...others] = parts.filter((part) => part.type === "tool-call" && part.toolCallId === toolCallId);
  const isYes = answers.length > 0 && answers.every(({ approved }) => approved === true);
  if (!isYes || typeof call?.toolName !== "string" || others.length > 0) return undefined;
  return { tool: call.toolName, input: call.input, approvalId };
}
