import type { Bounds } from "../../bounds/bounds.ts";
import type {
  Capability,
  CapabilityKind,
  Effect,
  RequestConditions,
  ToolLists,
  ToolSizes,
} from "../../capability/capability.ts";
import type { JsonValue } from "../../json/json.ts";
import type { Mode, Risk, Tier } from "../../tool/manifest.ts";

export const decisions = ["allow", "ask", "deny"] as const;
export type Decision = (typeof decisions)[number];

export const postures = ["strict", "standard", "permissive"] as const;
/** How a policy answers where no rule matches: one decision per tier. */
export type Posture = (typeof postures)[number];

/** One JSON document that decides what runs. Checked by {@link loadPolicy}; unknown keys are errors. */
export interface PolicyDocument {
  /** The JSON Schema of the file, for editors: `node_modules/@keyhole/kernel/schemas/policy.schema.json`. A loaded policy and its digest are without it. */
  readonly $schema?: string;
  readonly version: "1";
  readonly posture: Posture;
  /** `observe` records what would have been decided and stops nothing but what grants, the mode and the tool itself stop. Default `enforce`. */
  readonly enforcement?: "enforce" | "observe";
  readonly grants?: readonly GrantRule[];
  readonly rules?: readonly PolicyRule[];
  /** Governance per tool name. It only tightens, but for `modes.lockdown`. */
  readonly tools?: Readonly<Record<string, ToolGovernance>>;
  /** Names of the approvers whose approval counts. Default: every approver. */
  readonly approvers?: readonly string[];
  /**
   * `passkey`: a yes counts only with an assertion of one of `passkeys`, over this very question. Default: the word of the approver counts. A rule that asks can demand it
   * for itself.
   */
  readonly approver?: "passkey";
  /** The passkeys whose assertions count. Needed where the policy demands a passkey. */
  readonly passkeys?: Passkeys;
  /** Labels of outputs, by name. A session carries the labels of all that ran in it. */
  readonly labels?: Readonly<Record<string, LabelRule>>;
}

/** Gives a caller one capability for one tool. The kernel refuses ungranted requests. */
export interface GrantRule {
  /** A tool's name, or `*`. */
  readonly tool: string;
  /** Default: every caller. */
  readonly caller?: string;
  readonly capability: Capability;
}

export interface PolicyRule {
  /** Unique in the document. */
  readonly id: string;
  readonly effect: Decision;
  /** All conditions must hold; `{}` matches every call. */
  readonly when: RuleCondition;
  /** With `ask`: an approval needs a passkey, under every setting of the document. */
  readonly approver?: "passkey";
  /** One sentence for the approver or the caller. */
  readonly reason: string;
  /** The kernel tries it when it loads the document; a wrong example refuses the document. */
  readonly examples?: { readonly match?: readonly RuleExample[]; readonly notMatch?: readonly RuleExample[] };
}

/**
 * A condition with a list holds when the list contains the call's value. Only a request shows its
 * target: a rule with one of the {@link RequestConditions} is a rule about requests. To decide
 * before the call runs, test its arguments.
 */
export interface RuleCondition extends RequestConditions {
  readonly tool?: readonly string[];
  /** SemVer version or range, as in {@link CallOptions}. */
  readonly version?: string;
  readonly category?: readonly string[];
  readonly tier?: readonly Tier[];
  readonly risk?: readonly Risk[];
  readonly mode?: readonly Mode[];
  readonly caller?: readonly string[];
  readonly session?: readonly string[];
  /** Holds when the tool declares any effect of the list. */
  readonly effects?: readonly Effect[];
  /** Holds when the call has a grant of a kind of the list. In a rule about requests: when the request is of such a kind. */
  readonly capability?: readonly CapabilityKind[];
  /** All must hold. */
  readonly arguments?: readonly ArgumentCondition[];
  /** Holds when the session carries any label of the list. */
  readonly labels?: readonly string[];
  readonly time?: TimeWindow;
  readonly count?: CountCondition;
}

/**
 * A condition on one argument: its place (JSON Pointer, RFC 6901) and exactly one operator. There
 * are no regular expressions.
 */
export type ArgumentCondition = { readonly at: string } & ArgumentOperator;

/**
 * `differs`, `notIn`, `hostNotIn` and `pathNotIn` hold for an absent argument; all others do not.
 * An argument of a wrong type (`moreThan` of a text), or not plain (`007` for a number), is an
 * error of the rule. A `deny` or `ask` rule with an error counts as matching.
 */
export type ArgumentOperator =
  | { readonly exists: boolean }
  | { readonly equals: JsonValue }
  | { readonly differs: JsonValue }
  | { readonly in: readonly JsonValue[] }
  | { readonly notIn: readonly JsonValue[] }
  | { readonly lessThan: number }
  | { readonly atMost: number }
  | { readonly moreThan: number }
  | { readonly atLeast: number }
  /** UTF-16 units of a text, items of an array. */
  | { readonly longerThan: number }
  | { readonly startsWith: string }
  | { readonly endsWith: string }
  /** A text in a text, or a text among the items of an array. */
  | { readonly contains: string }
  /** The argument is a URL or a host. */
  | { readonly hostIn: readonly string[] }
  | { readonly hostNotIn: readonly string[] }
  /** The argument is a relative path. */
  | { readonly pathIn: readonly string[] }
  | { readonly pathNotIn: readonly string[] };

export const weekdays = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"] as const;

/** Parts of the week, or a span of time. Every given condition must hold. */
export interface TimeWindow {
  readonly days?: readonly (typeof weekdays)[number][];
  /** `HH:MM`, inclusive. Later than `to`: over midnight, and `days` are those on which the window begins. Default 00:00. */
  readonly from?: string;
  /** `HH:MM`, exclusive. Default 24:00. */
  readonly to?: string;
  /**
   * Minutes added to UTC for `days`, `from` and `to`. Default 0. Names of time zones differ between
   * hosts.
   */
  readonly utcOffsetMinutes?: number;
  /** RFC 3339, inclusive. */
  readonly after?: string;
  /** RFC 3339, exclusive. */
  readonly before?: string;
}

/**
 * How many calls matched the rule's other conditions within a window, the present one and all that are in flight included. Calls that never started
 * do not count. Exactly one of `moreThan` and `atMost`.
 */
export type CountCondition = {
  /** Sliding. At most 31 days. */
  readonly windowMs: number;
  /** Counted apart for each of these. Default `["caller"]`; `[]` counts everything together. */
  readonly per?: readonly ("caller" | "session" | "tool")[];
  /**
   * JSON Pointer of an argument whose values the rule sums, instead of a count of calls. Any value but
   * a number ≥ 0 is an error of the rule.
   */
  readonly sum?: string;
} & ({ readonly moreThan: number } | { readonly atMost: number });

/**
 * An example for a rule. Defaults: tool `example` 1.0.0, tier 0, no effects, caller `anonymous`,
 * mode NORMAL, no arguments.
 */
export type RuleExample = CallExample & { readonly [Name in keyof RequestConditions]?: string };

interface CallExample {
  readonly tool?: string;
  readonly version?: string;
  readonly category?: string;
  readonly tier?: Tier;
  readonly risk?: Risk;
  readonly effects?: readonly Effect[];
  readonly caller?: string;
  readonly session?: string;
  readonly mode?: Mode;
  readonly arguments?: Readonly<Record<string, JsonValue>>;
  readonly capability?: CapabilityKind;
  readonly labels?: readonly string[];
  /** RFC 3339. Default: 2026-01-01T00:00:00Z, a Thursday. */
  readonly time?: string;
  /** The count before this call. Default 0. */
  readonly count?: number;
}

/** Limits of a policy for one tool, beyond its rules. */
export interface ToolGovernance extends ToolLists {
  readonly modes?: {
    /** It runs in a mode if the list has all milder ones, too. */
    readonly allowed?: readonly Mode[];
    /** And in every stricter one. */
    readonly forbidden?: readonly Mode[];
    /** Modes in which every call asks; it does in every stricter one. */
    readonly approval?: readonly Mode[];
    /**
     * `ask`: the tool only observes, so LOCKDOWN asks a person about each call in place of its denial. It holds for tiers 0 and 1 whose effects are `fs.read`, `kv.read`,
     * `db.read` and `process.spawn`. No grant of `process.spawn` to the tool can have a `rest`.
     */
    readonly lockdown?: "ask";
  };
  readonly sizes?: ToolSizes & {
    /** UTF-8 bytes of the canonical input. */
    readonly inputBytes?: number;
  };
  /** Lower the tool's own. */
  readonly bounds?: Partial<Bounds>;
  /**
   * Values that the log keeps beside digests: those at these JSON Pointers, each under a salt, in
   * the kernel's content store. Default: none. The log keeps no binary outputs.
   */
  readonly keep?: { readonly input?: readonly string[]; readonly output?: readonly string[] };
  /** At most so many calls in any window. Default per caller. */
  readonly rate?: { readonly calls: number; readonly windowMs: number; readonly per?: CountCondition["per"] };
}

export interface LabelRule {
  /** Tools whose outputs carry the label. */
  readonly tools?: readonly string[];
  /** Further labels that this one brings. Not in a circle. */
  readonly implies?: readonly string[];
}

/** The passkeys of one relying party (Web Authentication Level 3). Their private halves are in the devices of their owners. */
export interface Passkeys {
  /** The domain for which they were made: `example.com`, or `localhost`. */
  readonly rpId: string;
  /** Pages that may ask for an assertion: `https://approvals.example.com`. Each is of the domain or below it. */
  readonly origins: readonly string[];
  readonly keys: readonly Passkey[];
}

export interface Passkey {
  /** On record as the approver. */
  readonly approver: string;
  /** base64url. */
  readonly credentialId: string;
  /** SubjectPublicKeyInfo (RFC 5280) in base64url: P-256, Ed25519, or RSA of 2,048 to 4,096 bits. As `getPublicKey()` of the browser gives it. */
  readonly publicKey: string;
}
