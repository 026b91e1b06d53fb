export { type ApprovalDesk, approvalDesk } from "./app/approvals.ts";
export { type Identity, type Scope, scopes } from "./app/auth.ts";
export { type Backend, createGateway, type GatewaySettings } from "./app/gateway.ts";
export { createRoutes, type Served } from "./app/routes.ts";
export { type EdgeHostOptions, edgeHost } from "./isolate/host.ts";
export { type IsolateLoader, type LoadedTool, type LoaderAnswer, sandboxLoader } from "./isolate/loader.ts";
export { IsolateRack } from "./isolate/rack.ts";
export { sqlSink } from "./object/sink.ts";
