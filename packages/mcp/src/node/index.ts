export { type McpHttpOptions, type McpHttpServer, type McpStdioOptions, serveMcpHttp, serveMcpStdio } from "./serve.ts";
