import type { AuditEvent } from "../../audit/event.ts";
import type { EnclosedKeys } from "../../audit/trusted-keys.ts";
import type { Capability } from "../../capability/capability.ts";
import type { Families } from "../../capability/registry.ts";
import type { JsonValue } from "../../json/json.ts";
import type { ToolManifest } from "../../tool/manifest.ts";

/** Evidence beside the proof, from anywhere. More evidence allows more checks. The verifier trusts no part of it. */
export interface ProofEvidence {
  /** Level 0: keys that came with the proof. They vouch for nothing. */
  readonly enclosedKeys?: EnclosedKeys;
  /** Levels 1 and 3: the audit log, or the piece of it that has the call. */
  readonly events?: readonly AuditEvent[];
  /** Levels 1 and 3: checkpoints of the log, as they were found. One of a trusted key, over all events, vouches for the log. */
  readonly checkpoints?: readonly unknown[];
  /** Level 1: the call's result as JSON, or a part of it. Only the log has the outcome, the data and the effects. */
  readonly result?: unknown;
  /** Level 2: the document, variables filled in. */
  readonly policy?: unknown;
  /** Level 2: the tool's package, or what `kernel.list` says of it. */
  readonly tool?: ToolEvidence;
  /** Level 2: the input, defaults filled in. */
  readonly input?: JsonValue;
  /** Level 2: the caller's narrowing of the grants. */
  readonly grants?: readonly Capability[];
  /** Level 2: the families of the kernel that decided. Default: `builtInFamilies`. */
  readonly families?: Families;
  /** Level 2, for the answer to a question: the proof of the question. Taken from `events` where those are given. */
  readonly parent?: unknown;
}

export const evidenceNames = {
  enclosedKeys: true,
  events: true,
  checkpoints: true,
  policy: true,
  tool: true,
  input: true,
  grants: true,
  families: true,
  parent: true,
  result: true,
} as const;

/** A manifest, and what it takes to check that it is the one that was used: the code, or its digest. An inline tool has neither. */
export interface ToolEvidence {
  readonly manifest: ToolManifest;
  readonly code?: string;
  readonly codeHash?: string | null;
}
