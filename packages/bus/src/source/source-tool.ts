import { defineTool, isJsonObject, type JsonObject, type JsonValue, type Tier, type Tool } from "@keyhole/kernel";
import { boundsOf, definitionText, type ForeignCall, tierOf, type ToolPin } from "@keyhole/kernel/foreign-tools";
import { busCategory } from "../wire/category.ts";
import type { BusSourceOptions } from "./options.ts";

const tiersHere: readonly Tier[] = [0, 1, 2, 3, 4];

/** A tool of another kernel as a tool of this one. Its version has the end of the definition's digest: another definition is another tool. */
export function sourceTool(
  name: string,
  { definition, hash, tool }: ToolPin,
  options: BusSourceOptions,
  call: ForeignCall,
): Tool<never, unknown> {
  const { tiers = {}, effects = [], capabilities = [], needs = [] } = options;
  const title = definitionText(definition["title"], 100);
  const tier = tiersHere.find((each) => each === definition["tier"]) ?? 2;
  return defineTool({
    name,
    version: `1.0.0+${hash.slice(-16)}`,
    ...(title !== undefined && { title }),
    description: definitionText(definition["description"], 4_000) ?? `The tool ${tool} of a kernel on a bus.`,
    category: busCategory,
    determinism: "external",
    tier: tierOf(tool, tiers, tier),
    effects: [...effects],
    capabilities: [...capabilities],
    needs: [...needs],
    bounds: boundsOf(options),
    input: definition["inputSchema"] ?? { type: "object" },
    output: outputOf(definition["output"]),
    execute: call,
    // The schemas are the other kernel's: this one reads them at the registration of the tool.
  } as unknown as Parameters<typeof defineTool>[0]);
}

/** The contract that this kernel holds the outputs to. The source does not take over a media type of this program's own. */
function outputOf(output: JsonValue | undefined): JsonObject {
  const { kind, schema } = isJsonObject(output) ? output : {};
  if (kind === "text" || kind === "binary") return { kind };
  return { kind: "json", ...(isJsonObject(schema) && { schema }) };
}
