/** `@keyhole/kernel/tool`: what a file of a tool needs, and nothing of the kernel beside it. The packer reads two files for it, and 172 for the whole. */
export type { JsonValue } from "../json/json.ts";
export {
  type CapabilityRefused,
  defineTool,
  type FileEntry,
  type Tool,
  type ToolCallAnswer,
  type ToolContext,
  type ToolDefinition,
} from "./define.ts";
