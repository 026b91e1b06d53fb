/** A tool that a caller asks for. */
export interface CalledTool {
  readonly name: string;
  /** Exactly this one. */
  readonly version?: string;
}

/**
 * The tool that a caller names by text or by package, as the kernel reads it: a package names
 * exactly its version, and any other value names no tool.
 */
export function calledTool(foreign: unknown): CalledTool {
  if (typeof foreign === "string") return { name: foreign };
  try {
    const { name, version } = (foreign as { readonly manifest: Record<string, unknown> }).manifest;
    if (typeof name === "string" && typeof version === "string") return { name, version };
  } catch {
    // It cannot be read.
  }
  return { name: "" };
}
