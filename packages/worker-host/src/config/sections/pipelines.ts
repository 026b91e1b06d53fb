import {
  defineTool,
  hashJson,
  type JsonObject,
  type JsonValue,
  snapshot,
  type Tier,
  type Tool,
  type ToolContext,
  pointerOf,
  toolNamePattern,
} from "@keyhole/kernel";
import { filledIn, referencesIn } from "@keyhole/kernel/references";
import { type ConfigFault, named } from "../fault.ts";

export interface PipelineEntry {
  readonly version?: string;
  readonly title?: string;
  readonly description: string;
  readonly tier?: Tier;
  readonly input?: JsonObject;
  readonly steps: readonly PipelineEntryStep[];
  /** References are to `input` and to steps. Default: the data of the last step. */
  readonly output?: JsonValue;
}

interface PipelineEntryStep {
  readonly id: string;
  readonly tool: string;
  readonly input?: JsonValue;
}

export const pipelinesSection: JsonObject = named({
  type: "object",
  properties: {
    version: { type: "string", pattern: "^\\d+\\.\\d+\\.\\d+$", description: "Default: 1.0.0." },
    title: { type: "string", minLength: 1, maxLength: 100 },
    description: { type: "string", minLength: 1, maxLength: 4_000 },
    tier: { enum: [0, 1, 2, 3, 4], description: "Default: 0. Each step has the tier of its own tool." },
    input: { type: "object", description: "The JSON Schema of the input. Default: no properties." },
    steps: {
      type: "array",
      minItems: 1,
      maxItems: 100,
      items: {
        type: "object",
        properties: {
          id: { type: "string", pattern: "^[a-z][a-z0-9_-]{0,63}$" },
          tool: { type: "string", pattern: toolNamePattern },
          input: { description: "References are to `input` and to earlier steps." },
        },
        required: ["id", "tool"],
        additionalProperties: false,
      },
    },
    output: { description: "References are to `input` and to steps. Default: the data of the last step." },
  },
  required: ["description", "steps"],
  additionalProperties: false,
});

/** Refuses steps that refer forwards, and pipelines that lead back to themselves. */
export function readPipelines(entries: Readonly<Record<string, PipelineEntry>>): readonly Tool[] | ConfigFault {
  for (const [name, entry] of Object.entries(entries)) {
    const fault = faultOf(name, entry);
    if (fault) return fault;
  }
  const cycle = cycleIn(entries);
  if (cycle) {
    const [name = "", ...others] = cycle;
    const message = `The pipeline leads back to itself: ${[name, ...others].join(" → ")}.`;
    return { path: pointerOf(["pipelines", name]), message, hint: "Remove one of these steps." };
  }
  return Object.entries(entries).map(([name, entry]) => toolOf(name, entry));
}

function faultOf(name: string, { steps, output = null }: PipelineEntry): ConfigFault | undefined {
  const known = new Set(["input"]);
  for (const [place, { id, input = {} }] of steps.entries()) {
    const at = pointerOf(["pipelines", name, "steps", place]);
    if (known.has(id))
      return { path: `${at}/id`, message: `The name ${id} stands twice.`, hint: "Give it another name." };
    const fault = referenceFault(input, `${at}/input`, known);
    if (fault) return fault;
    known.add(id);
  }
  return referenceFault(output, pointerOf(["pipelines", name, "output"]), known);
}

function referenceFault(value: JsonValue, at: string, known: ReadonlySet<string>): ConfigFault | undefined {
  for (const reference of referencesIn(value, at)) {
    if ("fault" in reference)
      return { path: reference.path, message: `The value is not a reference: ${reference.fault}.`, hint: "" };
    if (!known.has(reference.source))
      return {
        path: reference.path,
        message: `There is no step ${JSON.stringify(reference.source.slice(0, 100))} before this one.`,
        hint: `Known are ${[...known].join(", ")}.`,
      };
  }
  return undefined;
}

/** A way through pipelines that ends where it begins. */
function cycleIn(entries: Readonly<Record<string, PipelineEntry>>): readonly string[] | undefined {
  const done = new Set<string>();
  const walk = (name: string, way: readonly string[]): readonly string[] | undefined => {
    if (way.includes(name)) return [...way.slice(way.indexOf(name)), name];
    if (done.has(name) || !Object.hasOwn(entries, name)) return undefined;
    for (const { tool } of entries[name]?.steps ?? []) {
      const found = walk(tool, [...way, name]);
      if (found) return found;
    }
    done.add(name);
    return undefined;
  };
  for (const name of Object.keys(entries)) {
    const found = walk(name, []);
    if (found) return found;
  }
  return undefined;
}

/** A tool whose calls are data: its version carries their digest, so that the tool's hash covers them. */
function toolOf(name: string, entry: PipelineEntry): Tool {
  const { version = "1.0.0", title, description, tier = 0, input, steps, output } = entry;
  const digest =
    hashJson([steps.map((step) => [step.id, step.tool, step.input ?? {}]), output ?? null]).split(":")[1] ?? "";
  const tools = [...new Set(steps.map(({ tool }) => tool))];
  return defineTool({
    name,
    version: `${version}+${digest.slice(0, 32)}`,
    ...(title !== undefined && { title }),
    description,
    tier,
    determinism: "external",
    capabilities: [{ kind: "tool.call", tools }],
    input: { type: "object", additionalProperties: false, ...input },
    output: { kind: "json" },
    async execute(given, context): Promise<JsonValue> {
      const own = snapshot(given);
      if (!own.ok) throw new TypeError(own.error.message);
      return runSteps(entry, own.value, context);
    },
  });
}

/** Each step is a call like any other, for the caller and in the session of the pipeline. */
async function runSteps(
  { steps, output }: PipelineEntry,
  given: JsonValue,
  { tools }: ToolContext,
): Promise<JsonValue> {
  const known = new Map<string, JsonValue>([["input", given]]);
  let last: JsonValue = null;
  for (const { id, tool, input = {} } of steps) {
    const answer = await tools.call(tool, filled(input, known, `The input of the step ${id}`));
    if (!answer.ok) throw failure(answer.error.code, `${id}: ${answer.error.message}`);
    last = answer.data;
    known.set(id, last);
  }
  return output === undefined ? last : (filled(output, known, "The output") ?? null);
}

/** Omits values that the caller omitted. A value that a step did not give is a failure. */
function filled(value: JsonValue, known: ReadonlyMap<string, JsonValue>, owner: string): JsonValue | undefined {
  const optional = new Set(
    referencesIn(value).flatMap((each) => ("source" in each && each.source === "input" ? [each.path] : [])),
  );
  const missing: string[] = [];
  const own = filledIn(value, known, (path) => void (optional.has(path) || missing.push(path)));
  if (missing.length > 0)
    throw failure("MISSING_VALUE", `${owner} refers at ${missing[0]} to a value that its step did not give.`);
  return own;
}

function failure(name: string, message: string): Error {
  return Object.assign(new Error(message), { name });
}
