import { loadRules } from "../../policy/decision/load-rules.ts";
import { loadPolicy } from "../../policy/document/load.ts";
import type { Extension } from "../extension.ts";

/** Policies as documents, which the kernel checks itself, and their rules. Without it the kernel takes results of `compilePolicy` only. */
export function policyDocuments(): Extension {
  return { name: "policy-documents", loadDocument: loadPolicy, loadRules };
}
