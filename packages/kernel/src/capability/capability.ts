/**
 * A capability is data: one kind of access and its limits. Manifests declare capabilities, policies
 * grant them, and call options narrow them. The family of the kind, in `families/`, reads it. Each
 * family names its type here:
 *
 * @example
 * declare module "@keyhole/kernel" {
 *   interface CapabilityTypes {
 *     "mqtt.publish": MqttCapability;
 *   }
 * }
 */
export interface CapabilityTypes {}
export type Capability = CapabilityTypes[keyof CapabilityTypes];
export type CapabilityKind = keyof CapabilityTypes;

/**
 * The kinds that read or change something outside. The tool's manifest and the call's result name
 * them.
 */
export interface EffectTypes {}
export type Effect = keyof EffectTypes;

/** One access of a request: the smallest thing that a grant can cover. */
export interface NeedTypes {}
export type Need = NeedTypes[keyof NeedTypes];

/**
 * Conditions of rules that only a request can show. A rule with one of them is a rule about requests: it is a `deny`, and is checked at every request,
 * redirects included. Patterns as in grants.
 */
export interface RequestConditions {}

/** Lists of one tool, checked at every request. */
export interface ToolLists {}

/** Sizes of one tool, checked at every request. */
export interface ToolSizes {}

/** `forbidden` beats `allowed`. */
export interface Governed {
  readonly allowed?: readonly string[];
  readonly forbidden?: readonly string[];
}
