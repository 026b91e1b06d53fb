/**
 * `@keyhole/kernel/tool`: the imports of a tool's file, without the kernel. The packer reads two
 * files for it, and 172 for the whole.
 */
export type { JsonValue } from "../json/json.ts";
export { type CapabilityRefused, defineTool, type Tool, type ToolContext, type ToolDefinition } from "./define.ts";
export type { ToolCallAnswer } from "../capability/families/tool-call.ts";
