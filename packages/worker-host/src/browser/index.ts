export { connectKernel, type ConnectOptions } from "./connect-kernel.ts";
export { type DomFrameContainerOptions, domFrameContainer } from "./dom-frame-container.ts";
export { exposeKernel } from "./expose-kernel.ts";
export { browserHost, type BrowserHostOptions, type Isolation } from "./host.ts";
export type { KernelClient, RemoteSurface } from "./kernel-client.ts";
export { type KernelFault, KernelUnavailable } from "./kernel-start.ts";
export { remoteFrameContainer } from "./remote-frame-container.ts";
export { serveFrameContainer } from "./serve-frame-container.ts";
export type { FrameContainer, ContainerOutcome } from "./frame-container.ts";
