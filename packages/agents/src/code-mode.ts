import { versionedId } from "@keyhole/kernel";
import type { CallOptions, ErrorCode, JsonObject, JsonValue, ToolFilter, ToolSummary } from "@keyhole/kernel";
import { sha256Hash } from "@keyhole/kernel/sha256";
import { toolTypes } from "@keyhole/kernel/tool-types";
import { knownOptions, membersOf } from "@keyhole/kernel/foreign";
import type { AgentKernel, AgentPreview, AgentResult } from "./agent-tools.ts";
import { catalogueManifests, type CatalogueTool, isCatalogueTool, rankedTools } from "./catalogue.ts";

export type { AgentKernel };

export interface CodeModeOptions {
  /**
   * `search`: three tools list, describe and run, for hundreds of tools. `types`: one tool, whose description has the types of all, for a few tools.
   *
   * Default `search`
   */
  readonly style?: "search" | "types";
  /** The tool that runs programs: `runCode` of `@keyhole/worker-host/tools`, or one with the same input. Default `run_code`. */
  readonly program?: string;
}

/**
 * A kernel whose tools a model calls from programs: give it to an adapter in place of the kernel. Each call of a program passes the gate by itself: the policy grants `tool.call` to the
 * tool that runs programs.
 *
 * @example
 * const { text } = await generateText({ model, prompt, ...(await aiSdkTools(codeMode(kernel))) });
 */
export function codeMode(kernel: AgentKernel, options: CodeModeOptions = {}): AgentKernel {
  const { style = "search", program = "run_code" } = knownOptions(options, { style: true, program: true }, "codeMode");
  if (style !== "search" && style !== "types")
    throw new TypeError(`\`style\` of codeMode is search or types, not ${String(style)}.`);
  const list = async (filter: ToolFilter = {}): Promise<Shown> => shownTools(await kernel.list(filter), program);
  return {
    async list(filter) {
      const { runner, tools } = await list(filter);
      if (style === "types") return [described(runner, `\n\n${toolTypes(tools.map(({ manifest }) => manifest))}`)];
      const hint = " Find tools with list_tools, and read their types with describe_tools.";
      return [...catalogueManifests.map(summaryOf), described(runner, hint)];
    },
    async call(tool, input, given) {
      if (style === "types" || !isCatalogueTool(tool)) return kernel.call(tool, input, given);
      return answer(tool, input, (await list(filterOf(given))).tools);
    },
    async preview(tool, input, given): Promise<AgentPreview> {
      if (style === "types" || !isCatalogueTool(tool)) return kernel.preview(tool, input, given);
      return { decision: "allow" };
    },
  };
}

interface Shown {
  readonly runner: ToolSummary;
  /** The tools that programs call: the highest version of each name. */
  readonly tools: readonly ToolSummary[];
}

function shownTools(listed: readonly ToolSummary[], program: string): Shown {
  const highest = new Map<string, ToolSummary>();
  for (const tool of listed) if (!highest.has(tool.manifest.name)) highest.set(tool.manifest.name, tool);
  const runner = highest.get(program);
  if (runner) return { runner, tools: [...highest.values()].filter((tool) => tool !== runner) };
  throw new TypeError(
    `The kernel lists no tool ${JSON.stringify(program)} for this caller. Register runCode of @keyhole/worker-host/tools, and grant it tool.call.`,
  );
}

function filterOf({ caller }: CallOptions = {}): ToolFilter {
  return caller === undefined ? {} : { caller };
}

function described(tool: ToolSummary, more: string): ToolSummary {
  return { ...tool, manifest: { ...tool.manifest, description: tool.manifest.description + more } };
}

function summaryOf(manifest: ToolSummary["manifest"]): ToolSummary {
  return { id: versionedId(manifest), hash: "", codeHash: null, manifest };
}

const mostListed = 20;
const mostDescribed = 20;

function answer(tool: CatalogueTool, given: unknown, tools: readonly ToolSummary[]): AgentResult {
  const input = membersOf(given);
  return tool === "list_tools" ? listed(input, tools) : typesOf(input, tools);
}

function listed(
  { query = "", offset = 0 }: Readonly<Record<string, unknown>>,
  tools: readonly ToolSummary[],
): AgentResult {
  if (typeof query !== "string" || !Number.isSafeInteger(offset) || Number(offset) < 0)
    return refused("INVALID_INPUT", "`query` is not a text, or `offset` is not a count.");
  const found = rankedTools(
    tools.map(({ manifest }) => manifest),
    query,
  );
  const end = Number(offset) + mostListed;
  const page = found
    .slice(Number(offset), end)
    .map(({ name, description }) => ({ name, description: firstLine(description) }));
  return given({ tools: page, total: found.length, next: end < found.length ? end : null });
}

function typesOf({ names }: Readonly<Record<string, unknown>>, tools: readonly ToolSummary[]): AgentResult {
  if (!Array.isArray(names) || names.length === 0 || names.length > mostDescribed)
    return refused("INVALID_INPUT", `\`names\` is not a list of 1 to ${mostDescribed} names.`);
  const byName = new Map<unknown, ToolSummary>(tools.map((tool) => [tool.manifest.name, tool]));
  const unknown = names.filter((name) => !byName.has(name)).map(String);
  if (unknown.length > 0) return refused("TOOL_NOT_FOUND", `There are no tools ${unknown.join(", ").slice(0, 200)}.`);
  return given(toolTypes(names.flatMap((name) => byName.get(name)?.manifest ?? [])));
}

function given(data: JsonValue): AgentResult {
  return { ok: true, data, hash: sha256Hash.json(data), callId: "" };
}

function refused(code: ErrorCode, message: string): AgentResult {
  const details: JsonObject = {};
  const hint = "Use a name that list_tools gives, or correct the arguments.";
  return { ok: false, error: { code, message, details, retryable: false, hint, operatorHint: "" }, callId: "" };
}

function firstLine(text: string): string {
  const sentence = /^[^]*?[.!?](?=\s|$)/.exec(text)?.[0] ?? text;
  return sentence.length > 160 ? `${sentence.slice(0, 160).toWellFormed()}…` : sentence;
}
