/**
 * A capability is data: what may be touched, and how much. It sits in manifests (what a tool asks for), in policies (what is
 * granted) and in call options (what a caller narrows to). The family of its kind, in `families/`, reads it. Each family names its type here:
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

/** The kinds by which something is done to the world, or learnt of it: what the tool's manifest and the call's result name. */
export interface EffectTypes {}
export type Effect = keyof EffectTypes;

/** What one request is about to do: the smallest thing that a grant covers or not. */
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
