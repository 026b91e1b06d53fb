export { filePins } from "./file-pins.ts";
export { type ApprovalServer, serveApprovals } from "./serve-approvals.ts";
export { mcpProcess, type McpProcessOptions } from "./process-endpoint.ts";
export { type McpHttpOptions, type McpHttpServer, type McpStdioOptions, serveMcpHttp, serveMcpStdio } from "./serve.ts";
