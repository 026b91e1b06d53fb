export { edgeBus, type NatsClient } from "./edge-bus.ts";
