import type { JsonObject } from "../json/json.ts";
import type { Governed } from "./capability.ts";
import type { CapabilityFault, FieldsOf, GuardsOf } from "./fields.ts";

/** Data of some kind: a capability, or a need. Only the family of its kind can read the rest of it. */
export interface OfKind {
  readonly kind: string;
}

/**
 * The reading of a capability: generous for a tool's declaration (`wish`), strict for a grant
 * (`authority`).
 */
export type Reading = "wish" | "authority";

/** The budget of one call under one capability. `Infinity` without a limit. */
export interface CapabilityBudget {
  readonly requests: number;
  readonly bytes: number;
}

/** A capability as its family loaded it: its form is checked, and only its own family can read it. */
export interface LoadedCapability {
  readonly kind: string;
  readonly family: Family;
  /** As it was given: for digests, snapshots and hints. */
  readonly json: OfKind;
  readonly budget: CapabilityBudget;
  /** The largest size of one request: bytes of a file or value, rows of an answer. `Infinity` without a limit. */
  readonly limit: number;
  /** Whether it names single things: then it is no wider than the one thing that its tool can ask for. */
  readonly isNarrow: boolean;
  /** @param size in place of the need's own: a size that is known by now, or 0 for any */
  covers(need: OwnNeed, reading: Reading, size?: number): boolean;
  /**
   * The requests to a target that arguments name, by its parts; none for a target of another kind. A text says why no request can have this target, as sentences.
   */
  needsTo(target: TargetValues): readonly OwnNeed[] | string;
  /** One line for people, in approvals and refusals. */
  describe(): string;
  /** Names of secrets that it grants at a host; none, if it grants no secrets. */
  readonly secretsAt: (host: string) => readonly string[];
}

/** One access of a request, read by its family: the smallest thing that a grant can cover. */
export interface OwnNeed {
  readonly kind: string;
  readonly family: Family;
  readonly json: OfKind;
  /** For the log and for refusals. Without query, fragment, parameters and arguments: they can carry secrets. */
  readonly target: string;
  /** Why a place that it names is not plain, as sentences for the model. */
  readonly notPlain: string | undefined;
  /** Bytes of a file or value; 0 where they are not known. */
  readonly size: number;
  /** The host that it goes to. */
  readonly destination: Destination | undefined;
  /** The narrowest capability that covers it, for a person to grant. `undefined` where no capability says it literally: one with a wildcard covers other things too. */
  narrowest(): LoadedCapability | undefined;
}

/** A host, and whether its broker knows it for a name of the public internet. */
export interface Destination {
  readonly host: string;
  readonly isPublic?: boolean;
}

/**
 * The effect of a kind: manifests list `reads` and `changes`, and results name them. Only a kind
 * `NOUN.read` reads.
 */
export type EffectOf = "none" | "reads" | "changes";

export type Covers<N> = (need: N, reading: Reading) => boolean;

/** All that the kernel knows of one kind, except the guest's half, which is an export of its own. One file in `families/` defines it. */
export interface FamilySpec<C extends OfKind, N extends OfKind> {
  /** `noun.verb`, as manifests, policies and the log name it. */
  readonly kind: C["kind"] & N["kind"];
  /** The effect of a tool with it, for people: `Reads files`. */
  readonly title: string;
  readonly effect: EffectOf;
  readonly fields: FieldsOf<C>;
  readonly need: GuardsOf<N>;
  /** The fault of a capability whose members are right, each by itself. */
  readonly check?: (capability: C) => CapabilityFault | undefined;
  /**
   * Whether one capability surely covers a need, without regard to size. Work per capability is
   * done once for all needs.
   */
  readonly covers: (capability: C) => Covers<N>;
  /** Without the kind. Default: nothing. */
  readonly describe?: (capability: C) => string;
  readonly target: (need: N) => string;
  /** Why a place that the need names is not plain, and the plain spelling, as sentences. Default: each place is plain. */
  readonly notPlain?: (need: N) => string | undefined;
  readonly narrowest: (need: N) => C | undefined;
  readonly isNarrow: (capability: C) => boolean;
  /** Default: no limit. */
  readonly budget?: (capability: C) => { readonly requests?: number | undefined; readonly bytes?: number | undefined };
  /** Default: no limit. */
  readonly limit?: (capability: C) => number | undefined;
  /** Default: not known. */
  readonly size?: (need: N) => number | undefined;
  /** The name in a tool's `sizes` by which a policy bounds the size of each request. Default: none. */
  readonly sizeName?: string;
  /** Conditions of rules that a request of this kind can show, by their names in `when`. Default: none. */
  readonly conditions?: Readonly<Record<string, ConditionSpec<N>>>;
  /** A need with some values of conditions, for the examples of rules. Other members have a usual value. */
  readonly sample?: (values: ConditionValues) => N;
  /** How arguments of a tool name the target of its requests. Default: they cannot. */
  readonly targetArguments?: TargetSpec<C, N>;
  /** The host that a request goes to, whose answer can hold what the host was told before. Default: none. */
  readonly destination?: (need: N) => Destination;
  /** The body whose bytes count against the budget, of a request or of its answer. Default: none, except what a broker spends. */
  readonly body?: "sent" | "received";
  /** Its requests are calls of other tools. Each has an end of its own on record, for which the calling call waits. */
  readonly isCall?: true;
  /** Its requests stay with stores of the host. Default: they reach other systems. */
  readonly isLocal?: true;
  /** The guest has it by itself, without a request, where it is granted. */
  readonly isSource?: true;
  /** Only of the family that grants secrets: a keeper asks by it before it reveals one. */
  readonly secret?: SecretSpec<C, N>;
  /** Only of the family that grants commands: the need of a tool that is a command. */
  readonly command?: (command: string, args: readonly string[]) => N;
}

/** Parts of a target by the names that the kind gives them, each as an argument says it. */
export type TargetValues = Readonly<Record<string, string | undefined>>;

/** The parts of a target that a manifest names, each by a JSON Pointer into the input. */
export interface TargetParts {
  readonly required: readonly string[];
  /** Default: none. */
  readonly optional?: readonly string[];
}

export interface TargetSpec<C, N> extends TargetParts {
  /**
   * Requests to the target under one capability: a call of the tool makes one of them. None, where the target is one of another kind. Sizes and headers, which
   * arguments do not say, are left out. A text says why no request can have this target, as sentences.
   */
  readonly needs: (target: TargetValues, capability: C) => readonly N[] | string;
}

/** A condition of rules, and the list of one tool about the same thing. */
export interface ConditionSpec<N> {
  /** The fault of a pattern, as the end of a sentence. */
  readonly check: (pattern: string) => string | undefined;
  /** Whether a pattern has the form of this kind; conditions of one name can have different forms. Default: every pattern has. */
  readonly isOwn?: (pattern: string) => boolean;
  /** JSON Schema of the patterns. Default: texts. */
  readonly schema?: JsonObject;
  /** For a deny: true for all that could be meant. */
  readonly touches: (patterns: readonly string[]) => (need: N) => boolean;
  readonly list?: ListSpec<N>;
}

interface ListSpec<N> {
  /** In `tools` of a policy: `hosts`. */
  readonly name: string;
  /** For `allowed`: true only for what is surely meant. */
  readonly covers: (patterns: readonly string[]) => (need: N) => boolean;
  /** As a refusal shows it. */
  readonly text: (need: N) => string;
}

/** Values by the names of conditions. */
export type ConditionValues = Readonly<Record<string, string | undefined>>;

/** A condition as the core sees it. */
export interface Condition extends Omit<ConditionSpec<OwnNeed>, "isOwn" | "schema" | "list"> {
  readonly isOwn: (pattern: string) => boolean;
  readonly schema: JsonObject;
  readonly list: GovernedList | undefined;
}

/** Whether a member of a tool's governance is a pair of lists. The document's schema has seen what it holds. */
export function isGoverned(value: unknown): value is Governed {
  return typeof value === "object" && value !== null;
}

export interface GovernedList {
  readonly name: string;
  /** The part of a need that the lists refuse; `undefined` where they let it through. */
  readonly refused: (lists: Governed) => (need: OwnNeed) => string | undefined;
}

interface SecretSpec<C, N> {
  readonly need: (name: string, host: string, isPublic: boolean) => N;
  /** Names, exact or as a pattern, that a capability grants at a host. A wildcard takes every host: the keeper searches for more, not less. */
  readonly namesAt: (capability: C) => (host: string) => readonly string[];
}

/** A family as the kernel's core sees it: no kind by name, no data by type. Only {@link defineFamily} makes one. */
export interface Family {
  readonly kind: string;
  readonly title: string;
  readonly effect: EffectOf;
  /** Members of its capabilities, `kind` aside, by name; and those that every one has. */
  readonly properties: JsonObject;
  readonly required: readonly string[];
  /** Takes a capability of its own schema. */
  load(json: OfKind): LoadedCapability | CapabilityFault;
  readonly conditions: ReadonlyMap<string, Condition>;
  readonly sample: ((values: ConditionValues) => OwnNeed) | undefined;
  readonly sizeName: string | undefined;
  readonly targetArguments: TargetParts | undefined;
  readonly body: "sent" | "received" | undefined;
  readonly isLocal: boolean;
  readonly isCall: boolean;
  readonly isSource: boolean;
  /** @throws TypeError for what is no need of this kind */
  need(json: OfKind): OwnNeed;
  /** As in {@link FamilySpec}. */
  readonly secretNeed: ((name: string, host: string, isPublic: boolean) => OwnNeed) | undefined;
  readonly commandNeed: ((command: string, args: readonly string[]) => OwnNeed) | undefined;
}
