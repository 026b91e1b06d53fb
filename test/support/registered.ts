import { checkPackage, type Hash, type RegisteredTool } from "@keyhole/kernel";

/** A package as a kernel has it after its registration. Throws for one that none takes. */
export function registered(tool: unknown, hash?: Hash): RegisteredTool {
  const checked = checkPackage(tool, hash);
  if (!checked.ok) throw new Error(checked.error.message);
  return checked.value;
}
