import type { ToolPackage } from "@keyhole/kernel";

export const builtInTools: readonly ToolPackage[] = [];
