export { connectKernel, type ConnectOptions } from "./connect-kernel.ts";
export { type DomStageOptions, domStage } from "./dom-stage.ts";
export { exposeKernel } from "./expose-kernel.ts";
export { browserHost, type BrowserHostOptions, type Isolation } from "./host.ts";
export type { KernelClient, RemoteSurface } from "./kernel-client.ts";
export { type KernelFault, KernelUnavailable } from "./kernel-start.ts";
export { remoteStage } from "./remote-stage.ts";
export { serveStage } from "./serve-stage.ts";
export type { FrameStage, StageOutcome } from "./stage.ts";
