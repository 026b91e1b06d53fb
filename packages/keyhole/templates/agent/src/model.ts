import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { LanguageModel } from "ai";

/**
 * The model that the environment names: MODEL, and ANTHROPIC_API_KEY, or OPENAI_BASE_URL with OPENAI_API_KEY for any server that speaks that API.
 *
 * @throws Error that says which is missing
 */
export function modelFrom(env: NodeJS.ProcessEnv): LanguageModel {
  const { MODEL: model, ANTHROPIC_API_KEY: anthropicKey, ANTHROPIC_BASE_URL: anthropicUrl } = env;
  const { OPENAI_BASE_URL: baseURL = "https://api.openai.com/v1", OPENAI_API_KEY: apiKey } = env;
  if (model === undefined) throw new Error("MODEL is not set. Name a model of your provider.");
  if (anthropicKey !== undefined)
    return createAnthropic({ apiKey: anthropicKey, ...(anthropicUrl !== undefined && { baseURL: anthropicUrl }) })(
      model,
    );
  if (apiKey === undefined) throw new Error("No key is set. Set ANTHROPIC_API_KEY or OPENAI_API_KEY.");
  return createOpenAICompatible({ name: "openai", baseURL, apiKey, includeUsage: true })(model);
}
