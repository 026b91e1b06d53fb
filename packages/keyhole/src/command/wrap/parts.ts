import { Unusable } from "../io.ts";
import { installLine } from "../package-specs.ts";

export interface McpParts {
  readonly common: typeof import("@keyhole/mcp");
  readonly node: typeof import("@keyhole/mcp/node");
}

/** The package is a peer: most users of this command have no servers of MCP. @throws {Unusable} where it is missing */
export async function mcpParts(): Promise<McpParts> {
  try {
    const [common, node] = await Promise.all([import("@keyhole/mcp"), import("@keyhole/mcp/node")]);
    return { common, node };
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ERR_MODULE_NOT_FOUND")
      throw new Unusable(`This verb needs one package: ${await installLine(["@keyhole/mcp"])}`, { cause: error });
    throw error;
  }
}
