import { AgentRun, type RunBudget, type RunKernel } from "@keyhole/agents/agent-run";
import { type LanguageModel, type ModelMessage, streamText } from "ai";

const instructions =
  "You work with the tools of one person. Report what they answered. Where a call is refused, say so and do not try another way around it.";

const usual: RunBudget = { tokens: 50_000, fuel: 500_000_000, calls: 40 };

/** An agent whose calls are one session, one trace and one budget. The playground's Agent screen runs the same loop. */
export function openAgent(model: LanguageModel, kernel: RunKernel, budget = usual): AgentRun<ModelMessage> {
  return new AgentRun<ModelMessage>({
    kernel,
    budget,
    answerBytes: 8_192,
    ask: (request) => streamText({ model, instructions, ...request }),
  });
}
