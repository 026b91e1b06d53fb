import {
  checkPackage,
  checkTrustedTool,
  type Hash,
  type Kernel,
  type RegisteredTool,
  type Setup,
  type Tool,
  type ToolPackage,
  type ToolSummary,
} from "@keyhole/kernel";

/** A tool of a test: its own object, which it trusts, or a package. */
export type AnyTool = ToolPackage | Tool<never, unknown>;

/** A tool as a kernel has it after its registration. Throws for one that no kernel takes. */
export function registered(tool: AnyTool, hash?: Hash): RegisteredTool {
  const checked = "definition" in tool ? checkTrustedTool(tool, hash) : checkPackage(tool, hash);
  if (!checked.ok) throw new Error(checked.error.message);
  return checked.value;
}

/** Registers an object as trusted, and a package as a package. */
export function registerAny(kernel: Pick<Kernel, "register" | "registerTrusted">, tool: AnyTool): Setup<ToolSummary> {
  return "definition" in tool ? kernel.registerTrusted(tool) : kernel.register(tool);
}
