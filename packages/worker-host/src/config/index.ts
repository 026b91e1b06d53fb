export { busConnectOptions, type BusConnectOptions, type BusParts, isOverWebSocket, openOnBus } from "./join-bus.ts";
export { type BusEntry, busTools } from "./sections/bus.ts";
export type { ConfigFault } from "./fault.ts";
export { type Config, type ConfigDocument, readConfig, type ReadConfig } from "./read.ts";
