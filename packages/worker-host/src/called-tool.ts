/** A tool that a caller asks for. */
export interface CalledTool {
  readonly name: string;
  /** Exactly this one. */
  readonly version?: string;
}

/** What a caller asks for by name or by package, read as the kernel reads it: a package stands for exactly its version, and anything else names nothing. */
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
