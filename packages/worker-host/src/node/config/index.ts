export { joinConfiguredBus } from "./bus.ts";
export { type ConfigFile, findConfig, loadConfig, type LoadConfig } from "./load.ts";
export {
  configuredOptions,
  type ConfiguredKernel,
  type ConfiguredOptions,
  type InPlaceOf,
  limitedPolicy,
  openConfigured,
  registerConfigured,
} from "./open.ts";
