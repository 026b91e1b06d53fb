export { mcpGateway, type McpGatewayOptions } from "./gateway.ts";
export { edgeMcp, type EdgeMcpOptions } from "./part.ts";
