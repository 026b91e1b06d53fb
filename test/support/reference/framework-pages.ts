import { readFileSync } from "node:fs";
import { root } from "../sources.ts";

interface Framework {
  readonly title: string;
  /** Behind "For authors of agents with". */
  readonly link: string;
  readonly packages: readonly string[];
  /** Of a framework with approvals of its own: how its program answers. Of another one: its first sentence. */
  readonly approvals: string;
  readonly ownApprovals?: true;
}

const noApprovals = "This framework has no approvals.";

/** By the name of the page, and of its program in `test/peers/agents/programs`. */
export const frameworks: Readonly<Record<string, Framework>> = {
  "ai-sdk": {
    title: "AI SDK",
    link: "[AI SDK 7](https://ai-sdk.dev)",
    packages: ["ai"],
    ownApprovals: true,
    approvals:
      "The result then has a `tool-approval-request`. Answer with a `tool-approval-response`, as the SDK's own guide shows. The kernel takes the answer from the messages and records it.",
  },
  anthropic: {
    title: "Anthropic SDK",
    link: "the [Anthropic SDK](https://github.com/anthropics/anthropic-sdk-typescript) and its tool runner",
    packages: ["@anthropic-ai/sdk"],
    approvals: noApprovals,
  },
  langchain: {
    title: "LangChain",
    link: "[LangChain](https://docs.langchain.com/oss/javascript/)",
    packages: ["langchain", "@langchain/core"],
    approvals: noApprovals,
  },
  openai: {
    title: "OpenAI SDK",
    link: "the [OpenAI SDK](https://github.com/openai/openai-node) and its `runTools`",
    packages: ["openai"],
    approvals: noApprovals,
  },
  "openai-agents": {
    title: "OpenAI Agents",
    link: "[OpenAI Agents JS](https://openai.github.io/openai-agents-js/)",
    packages: ["@openai/agents"],
    ownApprovals: true,
    approvals:
      "The run then stops with `result.interruptions`. Approve or reject each with `result.state`, and run the agent with that state again, with the tools that asked. The kernel records the answer: it counts for these exact arguments, once.",
  },
  "prompt-api": {
    title: "Prompt API of Chrome",
    link: "the [Prompt API](https://developer.chrome.com/docs/ai/prompt-api), whose model runs in the browser",
    packages: [],
    approvals: "This API has no approvals.",
  },
  webmcp: {
    title: "WebMCP",
    link: "[WebMCP](https://github.com/webmachinelearning/webmcp), with which a page gives tools to agents of the browser",
    packages: [],
    approvals: "A page's agent never approves its own calls.",
  },
};

/** A page for each framework: its program, and the words that all of them share. */
export function frameworkPages(): ReadonlyMap<string, string> {
  return new Map(Object.entries(frameworks).map(([name, each]) => [`docs/how-to/${name}.md`, pageOf(name, each)]));
}

function pageOf(name: string, { title, link, packages, approvals, ownApprovals }: Framework): string {
  const path = `test/peers/agents/programs/${name}.ts`;
  const installed = [...packages, "@keyhole/kernel", "@keyhole/agents"].map((each) => `\`${each}\``);
  const asks = "Under posture `standard` the policy asks about tools above tier 1";
  return [
    `# ${title}`,
    "",
    `For authors of agents with ${link}. After this page your agent calls a tool under a policy, and each call is in the log of the kernel.`,
    "",
    `Install ${installed.slice(0, -1).join(", ")} and ${installed.at(-1)}. This is the whole program, [${name}.ts](../../${path}):`,
    "",
    "```ts program",
    readFileSync(root + path, "utf8").trimEnd(),
    "```",
    "",
    "The tool runs in your own program here. Import it as a [package](../start.md) and call `kernel.register` to run it in an isolate.",
    "",
    "## Approvals",
    "",
    ...(ownApprovals
      ? [`${asks}. ${approvals}`]
      : [
          `${approvals} ${asks}, and the kernel's \`approver\` answers:`,
          "",
          "```ts",
          "const kernel = await createKernel({ policy, approver: async (request) => askPerson(request) });",
          "```",
        ]),
    "",
    "## Next",
    "",
    "- [Options, budgets and code mode](../agents.md), the same for every framework",
    "- [Rules of the policy](../policy.md), [the log](../audit.md)",
    "",
  ].join("\n");
}
