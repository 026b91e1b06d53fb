export { processPackage, type ProcessDefinition } from "./package.ts";
