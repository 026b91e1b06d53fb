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

/** Those whose answer can lead the client's user to a page (`input_required` of 2026-07-28). A person learns of a question about another one from `notify` alone. */
export const askingMethods: ReadonlySet<PassedMethod> = new Set(["prompts/get", "resources/read"]);
