import type { ToolManifest } from "@keyhole/kernel";

const common = {
  version: "1.0.0",
  effects: [],
  determinism: "external",
  tier: 0,
  source: "inline",
  capabilities: [],
  bounds: {},
} as const;

/** The tools with which a model finds what its programs can call. They read the kernel's list, and are no calls of the kernel. */
export const catalogueManifests: readonly ToolManifest[] = [
  {
    ...common,
    name: "list_tools",
    description: "Lists tools that programs can call, best matches first, 20 at a time.",
    input: {
      type: "object",
      properties: {
        query: { type: "string", description: "Words of the task. Without them all tools are listed." },
        offset: { type: "integer", minimum: 0, description: "`next` of the list before." },
      },
      additionalProperties: false,
    },
    output: { kind: "json" },
  },
  {
    ...common,
    name: "describe_tools",
    description: "Gives the TypeScript types of up to 20 tools, as programs call them.",
    input: {
      type: "object",
      properties: { names: { type: "array", items: { type: "string" }, minItems: 1, maxItems: 20 } },
      required: ["names"],
      additionalProperties: false,
    },
    output: { kind: "text" },
  },
];

export type CatalogueTool = "list_tools" | "describe_tools";

export function isCatalogueTool(name: string): name is CatalogueTool {
  return name === "list_tools" || name === "describe_tools";
}

/** A word in the name says more than a word in the description. */
const nameWeight = 3;

/** Tools that have a word of the query, most matches first, then by name; without words all tools. */
export function rankedTools(tools: readonly ToolManifest[], query: string): readonly ToolManifest[] {
  const words = new Set(query.toLowerCase().match(/[\p{L}\p{N}]+/gu));
  const scored = tools.map((tool) => ({ tool, score: scoreOf(tool, words) }));
  return scored
    .filter(({ score }) => words.size === 0 || score > 0)
    .toSorted((a, b) => b.score - a.score || (a.tool.name < b.tool.name ? -1 : 1))
    .map(({ tool }) => tool);
}

function scoreOf({ name, title = "", description }: ToolManifest, words: ReadonlySet<string>): number {
  const text = `${title} ${description}`.toLowerCase();
  let score = 0;
  for (const word of words) score += name.includes(word) ? nameWeight : text.includes(word) ? 1 : 0;
  return score;
}
