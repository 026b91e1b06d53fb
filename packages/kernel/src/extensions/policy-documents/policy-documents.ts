import { loadPolicy } from "../../policy/document/load.ts";
import type { Extension } from "../extension.ts";

/** The check of policies. Without it the kernel has the strict policy, and refuses every other. */
export function policyDocuments(): Extension {
  return { name: "policy-documents", loadDocument: loadPolicy };
}
