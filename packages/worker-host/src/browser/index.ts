export { type DomStageOptions, domStage } from "./dom-stage.ts";
export { browserHost, type BrowserHostOptions, type Isolation } from "./host.ts";
export type { KernelClient } from "./kernel-client.ts";
export { type KernelFault, KernelUnavailable } from "./kernel-start.ts";
export { connectKernel, type ConnectOptions, exposeKernel } from "./remote-kernel.ts";
export { remoteStage, serveStage } from "./remote-stage.ts";
export type { FrameStage, StageOutcome } from "./stage.ts";
