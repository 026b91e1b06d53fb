import type { LanguageModel } from "ai";

type Model = Extract<LanguageModel, { specificationVersion: "v4" }>;
type Part = Awaited<ReturnType<Model["doStream"]>>["stream"] extends ReadableStream<infer Each> ? Each : never;
type Prompt = Parameters<Model["doStream"]>[0]["prompt"];

interface Ask {
  readonly tool: string;
  readonly input: object;
}

/** One answer of the script: its text, and its requests. */
interface Line {
  readonly say: string;
  readonly asks: readonly Ask[];
}

/** Three steps that show what a policy does: reads side by side, a write that asks, a host without a grant. */
const script: readonly Line[] = [
  {
    say: "I am a script, no model: I make the same calls for every message. First I look at your files, and take a digest.",
    asks: [
      { tool: "list_directory", input: { path: "workspace" } },
      { tool: "read_file", input: { path: "workspace/greeting.txt" } },
      { tool: "hash", input: { data: "keyhole" } },
    ],
  },
  {
    say: "Now I write a note. The policy asks you first.",
    asks: [{ tool: "write_file", input: { path: "workspace/agent-note.txt", content: "An agent was here.\n" } }],
  },
  {
    say: "Last I try a host that nobody granted.",
    asks: [{ tool: "http_fetch", input: { url: "https://collector.example.net/c" } }],
  },
];

/** A model without a model: it answers by {@link script}, and then says what became of its calls. */
export function scriptedModel(): Model {
  let calls = 0;
  return {
    specificationVersion: "v4",
    provider: "keyhole",
    modelId: "scripted",
    supportedUrls: {},
    doGenerate: () => Promise.reject(new Error("The scripted model only streams.")),
    async doStream({ prompt, tools = [] }) {
      const known = new Set(tools.map(({ name }) => name));
      const { step, ends } = sinceLastMessage(prompt);
      const line = script[step];
      const asks = line?.asks.filter(({ tool }) => known.has(tool)) ?? [];
      const said = line?.say ?? reportOf(ends);
      return { stream: streamOf(said, asks, () => `script-${++calls}`, JSON.stringify([prompt, tools]).length) };
    },
  };
}

function sinceLastMessage(prompt: Prompt): { readonly step: number; readonly ends: readonly string[] } {
  const since = prompt.slice(prompt.findLastIndex(({ role }) => role === "user") + 1);
  const ends = since.flatMap(({ role, content }) =>
    role === "tool" ? content.flatMap((part) => (part.type === "tool-result" ? [endOf(part)] : [])) : [],
  );
  return { step: since.filter(({ role }) => role === "assistant").length, ends };
}

interface ToolResult {
  readonly toolName: string;
  readonly output: { readonly type: string; readonly value?: unknown };
}

function endOf({ toolName, output }: ToolResult): string {
  if (output.type !== "error-json") return `${toolName}: done`;
  const { value } = output;
  const code = typeof value === "object" && value !== null && "code" in value ? String(value.code) : "failed";
  return `${toolName}: ${code}`;
}

function reportOf(ends: readonly string[]): string {
  const done = ends.filter((end) => end.endsWith(": done")).length;
  return `Of ${ends.length} calls ${done} succeeded. ${ends.join(", ")}.`;
}

function streamOf(
  said: string,
  asks: readonly Ask[],
  nextId: () => string,
  readCharacters: number,
): ReadableStream<Part> {
  const words = said.match(/\S+\s*/g) ?? [];
  const written = said.length + JSON.stringify(asks).length;
  const usage = {
    inputTokens: { total: tokensOf(readCharacters), noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
    outputTokens: { total: tokensOf(written), text: undefined, reasoning: undefined },
  };
  const unified = asks.length > 0 ? "tool-calls" : "stop";
  const parts: readonly Part[] = [
    { type: "stream-start", warnings: [] },
    { type: "text-start", id: "0" },
    ...words.map((delta): Part => ({ type: "text-delta", id: "0", delta })),
    { type: "text-end", id: "0" },
    ...asks.map(({ tool, input }): Part => ({
      type: "tool-call",
      toolCallId: nextId(),
      toolName: tool,
      input: JSON.stringify(input),
    })),
    { type: "finish", usage, finishReason: { unified, raw: undefined } },
  ];
  return new ReadableStream({
    start(controller) {
      for (const part of parts) controller.enqueue(part);
      controller.close();
    },
  });
}

/** A model of this size would count about as many. */
function tokensOf(characters: number): number {
  return Math.ceil(characters / 4);
}
