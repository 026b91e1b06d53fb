/** Requests of MCP beside those for tools. Each is a call of a kernel's tool of its own, so that policy, approvals and log have it. */
export const passedMethods = [
  "prompts/list",
  "prompts/get",
  "resources/list",
  "resources/templates/list",
  "resources/read",
  "completion/complete",
] as const;

export type PassedMethod = (typeof passedMethods)[number];
