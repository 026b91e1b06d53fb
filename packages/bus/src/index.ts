export { type ChannelConnection, type ChannelLike, channelBus } from "./channel/channel-bus.ts";
export { memoryBus, type MemoryBus, type MemoryConnection } from "./memory/memory-bus.ts";
export { natsBus, type NatsHeaders, type NatsLike } from "./nats/nats-bus.ts";
export type { BusMessage, BusPort, OutgoingMessage } from "./port.ts";
export { type BusCaller, type BusCallers, everyCaller, type KnownCaller, sealedCallers } from "./serve/callers.ts";
export { type BusServer, type BusServerOptions, type KeyShare, serveOnBus } from "./serve/serve.ts";
export type { BusSource, BusSourceOptions } from "./source/options.ts";
export { busSource } from "./source/source.ts";
export type { BusCredential } from "./wire/seal.ts";
