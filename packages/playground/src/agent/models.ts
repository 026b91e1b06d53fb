import type { AgentRun, RunKernel, RunBudget } from "@keyhole/agents/agent-run";
import { parseUrl } from "@keyhole/kernel";
import { apartFromPage } from "@keyhole/kernel/foreign";
import type { LanguageModel, ModelMessage } from "ai";

export const modelKinds = ["scripted", "openai", "anthropic"] as const;
export type ModelKind = (typeof modelKinds)[number];

/** The model that a person chose. The key stands here alone: nothing stores it. */
export interface ModelChoice {
  readonly kind: ModelKind;
  /** Base of the API, such as `https://api.openai.com/v1`. */
  readonly address: string;
  readonly model: string;
  readonly key: string;
}

export const scripted: ModelChoice = { kind: "scripted", address: "", model: "", key: "" };

export const modelTexts = {
  scripted: { name: "Scripted, without a key", address: "", model: "" },
  openai: { name: "OpenAI-compatible endpoint", address: "https://api.openai.com/v1", model: "gpt-5-mini" },
  anthropic: { name: "Anthropic", address: "https://api.anthropic.com/v1", model: "claude-sonnet-4-5" },
} as const satisfies Record<ModelKind, { readonly name: string; readonly address: string; readonly model: string }>;

const instructions =
  "You work with the tools of a person's browser. Use them, and report what they answered. Where a call is refused, say so and do not try another way around it.";

/** The framework and the chosen model. They come with the first message, and only then. */
export async function openRun(
  choice: ModelChoice,
  kernel: RunKernel,
  budget: RunBudget,
  sessionId: string,
): Promise<AgentRun<ModelMessage>> {
  const [{ AgentRun: Run }, { streamText }, model] = await Promise.all([
    import("@keyhole/agents/agent-run"),
    import("./framework.ts"),
    openModel(choice),
  ]);
  return new Run<ModelMessage>({
    kernel,
    budget,
    sessionId,
    answerBytes: 8_192,
    ask: (request) => streamText({ model, instructions, maxRetries: 1, ...request }),
  });
}

/** More than a model says in one answer; an endpoint can continue without end. */
const mostBytes = 16_000_000;
/** Some tens of events: the framework reads each piece at one go. */
const pieceBytes = 4_096;

/** `fetch`, whose answer has an end, and leaves the page time to draw and to hear a press of Stop while it comes. */
const calmFetch: typeof fetch = async (input, init) => {
  const response = await fetch(input, { ...init, ...apartFromPage });
  let left = mostBytes;
  const calm = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
    async transform(chunk, controller) {
      left -= chunk.byteLength;
      if (left < 0) throw new Error("The answer of the endpoint has more than 16 MB.");
      for (let at = 0; at < chunk.byteLength; at += pieceBytes) {
        controller.enqueue(chunk.subarray(at, at + pieceBytes));
        await new Promise((resolve) => setTimeout(resolve));
      }
    },
  });
  return new Response(response.body?.pipeThrough(calm) ?? null, response);
};

async function openModel({ kind, address, model, key }: ModelChoice): Promise<LanguageModel> {
  switch (kind) {
    case "scripted":
      return (await import("./scripted-model.ts")).scriptedModel();
    case "openai": {
      const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
      return createOpenAICompatible({
        name: "own",
        baseURL: address,
        apiKey: key,
        includeUsage: true,
        fetch: calmFetch,
      })(model);
    }
    case "anthropic": {
      const { createAnthropic } = await import("@ai-sdk/anthropic");
      // Without this header the API answers no browser.
      const headers = { "anthropic-dangerous-direct-browser-access": "true" };
      return createAnthropic({ baseURL: address, apiKey: key, headers, fetch: calmFetch })(model);
    }
  }
}

/** @returns the fault; empty where there is none */
export function choiceFault({ kind, address, model, key }: ModelChoice): string {
  if (kind === "scripted") return "";
  const url = parseUrl(address);
  const isHere = url !== undefined && ["localhost", "127.0.0.1", "[::1]"].includes(url.hostname);
  if (url === undefined || (url.protocol !== "https:" && !(url.protocol === "http:" && isHere)))
    return "The address is not https, and not http on this machine.";
  if (url.username !== "" || url.password !== "") return "The address has a user or a password in it.";
  if (model.trim() === "") return "The model has no name.";
  if (key.trim() === "" && !isHere) return "The key is empty.";
  return "";
}
