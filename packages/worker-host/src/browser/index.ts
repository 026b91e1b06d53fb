export { type DomStageOptions, domStage } from "./dom-stage.ts";
export { browserHost, type BrowserHostOptions, type Isolation } from "./host.ts";
export { connectKernel, type ConnectOptions, exposeKernel, type KernelClient } from "./remote-kernel.ts";
export { remoteStage, serveStage } from "./remote-stage.ts";
export type { FrameStage, StageOutcome } from "./stage.ts";
