import { loadRules } from "../../policy/decision/load-rules.ts";
import type { Extension } from "../extension.ts";

/** The rules and rates of compiled policies. Without it the kernel refuses a policy that has one. `policyDocuments()` has it, too. */
export function policyRules(): Extension {
  return { name: "policy-rules", loadRules };
}
