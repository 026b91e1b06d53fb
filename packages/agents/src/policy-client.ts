import { knownOptions, membersOf } from "@keyhole/kernel/foreign";
import type { AgentKernel, AgentOptions } from "./agent-tools.ts";

export type { AgentKernel };

/** `PolicyClient` of `@ai-sdk/policy-opa`. */
export interface PolicyClient {
  evaluate<Result = unknown>(path: string, input: unknown): Promise<Result>;
}

/** The policy's decision about one call, as `opaPolicy` reads it. */
export interface PolicyDecision {
  readonly decision: "allow" | "deny" | "requires-approval";
  readonly reason?: string;
}

/** The entrypoint for `opaPolicy`. */
export const decisionPath = "keyhole/decision";
/** The entrypoint for `opaCapabilityMiddleware`. */
export const toolsPath = "keyhole/tools";

export type PolicyClientOptions = Pick<AgentOptions, "caller" | "sessionId" | "grants" | "tools">;

/**
 * The kernel's policy for tools that AI SDK runs by itself, through `@ai-sdk/policy-opa`. The kernel previews each call and runs nothing: it has to know a tool of this name. A tool that the
 * kernel does not know is denied, and so is a path that is neither {@link decisionPath} nor {@link toolsPath}. Denied, too, is each call that the policy counts, labels or lets a passkey approve:
 * only a call of the kernel does that.
 *
 * @example
 * const toolApproval = opaPolicy({ client: policyClient(kernel, { caller: "agent" }), path: decisionPath });
 */
export function policyClient(kernel: AgentKernel, options: PolicyClientOptions = {}): PolicyClient {
  const known = knownOptions(options, { caller: true, sessionId: true, grants: true, tools: true }, "policyClient");
  return {
    async evaluate<Result>(path: string, input: unknown): Promise<Result> {
      return (await answer(kernel, known, path, input)) as Result;
    },
  };
}

async function answer(
  kernel: AgentKernel,
  { tools, ...options }: PolicyClientOptions,
  path: string,
  input: unknown,
): Promise<PolicyDecision | { readonly tools: readonly string[] }> {
  if (path === toolsPath) {
    const { caller } = options;
    const listed = await kernel.list(caller === undefined ? {} : { caller });
    const names = new Set(listed.map(({ manifest }) => manifest.name));
    return { tools: [...names].filter((name) => tools?.includes(name) ?? true) };
  }
  if (path !== decisionPath)
    return {
      decision: "deny",
      reason: `There is no entrypoint ${JSON.stringify(path)}. Use ${decisionPath} or ${toolsPath}.`,
    };
  const { tool, args } = (input ?? {}) as { readonly tool?: { readonly name?: unknown }; readonly args?: unknown };
  const name = tool?.name;
  if (typeof name !== "string") return { decision: "deny", reason: "The question names no tool." };
  if (tools?.includes(name) === false) return { decision: "deny", reason: `The tool ${name} is not one of the agent.` };
  const preview = await kernel.preview(name, args ?? {}, options);
  const unheld = preview.decision === "deny" ? undefined : unheldBy(preview.proof);
  if (unheld !== undefined)
    return { decision: "deny", reason: `${unheld} of ${name}: only a call of the kernel holds that. Call it there.` };
  if (preview.decision === "allow") return { decision: "allow" };
  if (preview.decision === "ask") return { decision: "requires-approval", reason: preview.question.reason };
  return { decision: "deny", reason: `${preview.error.message} ${preview.error.hint}`.trim() };
}

/**
 * A preview charges no count and labels no session, and the SDK asks for no passkey: such a rule would never hold, and its deny never deny. Where the policy only observes, no rule
 * has to.
 *
 * @param proof of an edge or a page: foreign
 */
function unheldBy(proof: unknown): string | undefined {
  const { enforced, stateReads, obligations } = membersOf(proof);
  if (!Array.isArray(stateReads) || !Array.isArray(obligations)) return "The kernel gave no proof of the decision";
  if (enforced === false) return undefined;
  if (stateReads.some((read) => isNamed(membersOf(read)["key"], "count:"))) return "The policy counts the calls";
  if (obligations.some((each) => isNamed(each, "label:"))) return "The policy labels the session after a call";
  return obligations.includes("passkey") ? "The policy asks for a passkey before a call" : undefined;
}

const isNamed = (value: unknown, prefix: string): boolean => typeof value === "string" && value.startsWith(prefix);
