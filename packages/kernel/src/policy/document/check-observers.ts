import type { DocumentFault } from "./invalid.ts";
import type { GrantRule, PolicyDocument } from "./policy.ts";
import { hasOwn } from "../../support/guards.ts";

/** A tool that LOCKDOWN asks about runs no command whose arguments are open: a person could not tell what it may do. */
export function observersFault({ tools = {}, grants = [] }: PolicyDocument): DocumentFault | undefined {
  for (const [name, { modes }] of Object.entries(tools)) {
    if (modes?.lockdown === undefined) continue;
    const index = grants.findIndex((grant) => (grant.tool === name || grant.tool === "*") && isOpen(grant));
    if (index >= 0)
      return {
        path: `/tools/${name}/modes/lockdown`,
        message: `The grant at /grants/${index} leaves the number of arguments open (\`rest\`).`,
        hint: "Name each argument in the grant, or let LOCKDOWN deny the tool.",
      };
  }
  return undefined;
}

function isOpen({ capability }: GrantRule): boolean {
  if (capability.kind !== "process.spawn") return false;
  return capability.commands.some(({ args = [] }) =>
    args.some((each) => typeof each === "object" && hasOwn(each, "rest")),
  );
}
