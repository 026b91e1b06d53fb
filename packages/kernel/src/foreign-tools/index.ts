/*
 * `@keyhole/kernel/foreign-tools`: tools of an untrusted server, as tools of a kernel. Each definition is pinned by its digest when it is seen first.
 */
export { type DefinitionDifference, visibleJson } from "./difference.ts";
export {
  boundsOf,
  definitionText,
  type ForeignBounds,
  foreignBounds,
  type ForeignTool,
  type ForeignToolState,
  tierOf,
} from "./foreign-tool.ts";
export { readDefinition } from "./definition.ts";
export { checkSourceName } from "./names.ts";
export { checkNeeds } from "./needs.ts";
export { memoryPins, type ToolPin, type ToolPinStore } from "./pins.ts";
export { TokenBucket } from "./token-bucket.ts";
export { type ForeignCall, type OpenTool, Toolbox, type ToolboxOptions } from "./toolbox.ts";
