export { answerBytesOf, type ContextBudget, definitionWithin, errorWithin } from "./budget.ts";
export { definitionBytes, fitDefinition, type FitDefinition, type ModelDefinition } from "./fit-definition.ts";
export {
  KeptResults,
  type KeptLimits,
  type KeptSource,
  leastAnswerBytes,
  type ReadableOutput,
  readResultName,
  type ResultPart,
} from "./kept-results.ts";
export { heldBytes } from "./held-bytes.ts";
export { HeldInput } from "./held-input.ts";
export { HeldOutput, type OpenedOutput, type OutputPreview, type OutputSource } from "./held-output.ts";
export { type ReadAnswer, readResult, readResultManifest } from "./read-result.ts";
export { Shares } from "../../support/shares.ts";
export { encodeBase64 } from "../../bytes/base64.ts";
