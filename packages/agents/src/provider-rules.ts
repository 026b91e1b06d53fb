import type { AgentTool } from "./agent-tools.ts";

/** The parts of a tool's input schema that a provider's API refuses. */
export interface ProviderRule {
  readonly provider: string;
  /** Keywords that it refuses at the top of the schema. */
  readonly refusedAtTop: readonly string[];
  /** How it wants the names of members at the top. Default: any. */
  readonly memberName?: RegExp;
}

/** As the API answers: "schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level". */
export const openAiRule: ProviderRule = {
  provider: "OpenAI",
  refusedAtTop: ["oneOf", "anyOf", "allOf", "enum", "not"],
};

/** As the API answers: "input_schema does not support oneOf, allOf, or anyOf at the top level". */
export const anthropicRule: ProviderRule = {
  provider: "Anthropic",
  refusedAtTop: ["oneOf", "anyOf", "allOf"],
  memberName: /^[A-Za-z0-9_.-]{1,64}$/,
};

/** The same tools. @throws TypeError for a tool that the provider would refuse with the whole request */
export function acceptedBy(rule: ProviderRule, tools: readonly AgentTool[]): readonly AgentTool[] {
  for (const { name, inputSchema } of tools) {
    const keyword = rule.refusedAtTop.find((each) => Object.hasOwn(inputSchema, each));
    if (keyword !== undefined)
      throw new TypeError(
        `${rule.provider} refuses the schema of ${name}: \`${keyword}\` stands at its top. Move it into a member, or leave the tool out with \`tools\`.`,
      );
    const member = Object.keys(inputSchema["properties"] ?? {}).find((each) => rule.memberName?.test(each) === false);
    if (member !== undefined)
      throw new TypeError(
        `${rule.provider} refuses the schema of ${name}: the member ${JSON.stringify(member)} does not match ${rule.memberName?.source}. Rename it, or leave the tool out with \`tools\`.`,
      );
  }
  return tools;
}
