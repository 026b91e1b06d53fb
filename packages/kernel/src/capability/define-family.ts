import type { Governed } from "./capability.ts";
import type {
  CapabilityBudget,
  Condition,
  ConditionSpec,
  Covers,
  Family,
  FamilySpec,
  LoadedCapability,
  OfKind,
  OwnNeed,
  Destination,
  Reading,
  TargetValues,
} from "./family.ts";
import { type Field, type Guard, patternsSchema } from "./fields.ts";
import { isKind } from "../support/kind.ts";
import { hasOwn } from "../support/guards.ts";

const made = /* @__PURE__ */ new WeakSet<object>();

/** Whether {@link defineFamily} of this very module made it. */
export function isFamily(value: unknown): value is Family {
  return typeof value === "object" && value !== null && made.has(value);
}

const readSuffix = ".read";

/**
 * Makes the family of one kind. It closes over the types of its capabilities and needs. So nothing
 * covers a forged capability or need, or one of another family.
 *
 * @throws TypeError for a kind of another form, or whose name contradicts its effect
 */
export function defineFamily<C extends OfKind, N extends OfKind>(spec: FamilySpec<C, N>): Family {
  const { kind, title, effect, sample, secret, command } = spec;
  if (!isKind(kind)) throw new TypeError(`Got the kind ${JSON.stringify(kind)}, expected \`noun.verb\`.`);
  // Code that sees a manifest alone goes by the name.
  if ((effect === "reads") !== kind.endsWith(readSuffix))
    throw new TypeError(`Got the effect ${effect} of ${kind}, expected \`reads\` for kinds that end in ${readSuffix}.`);
  const fields = new Map(Object.entries<AnyField>(spec.fields));
  const needs = needsOf(spec, () => family);
  const family: Family = {
    kind,
    title,
    effect,
    properties: Object.fromEntries(Array.from(fields, ([name, { schema }]) => [name, schema])),
    required: Array.from(fields).flatMap(([name, { isOptional }]) => (isOptional ? [] : [name])),
    load: loaderOf(spec, fields, needs, () => family),
    need: needs.read,
    conditions: conditionsOf(spec.conditions ?? {}, needs),
    sample: sample && ((values) => needs.read(sample(values))),
    sizeName: spec.sizeName,
    targetArguments: spec.targetArguments,
    body: spec.body,
    isLocal: spec.isLocal === true,
    isCall: spec.isCall === true,
    isSource: spec.isSource === true,
    secretNeed: secret && ((name, host, isPublic) => needs.read(secret.need(name, host, isPublic))),
    commandNeed: command && ((name, args) => needs.read(command(name, args))),
  };
  made.add(family);
  return Object.freeze(family);
}

const noSecrets = (): readonly string[] => [];

type AnyField = Field<unknown> & { readonly isOptional?: true };

/** The needs of one family. */
interface Needs<N> {
  readonly read: Family["need"];
  /** `undefined` for a need of another family. */
  readonly own: (need: OwnNeed) => N | undefined;
}

function needsOf<C extends OfKind, N extends OfKind>(spec: FamilySpec<C, N>, family: () => Family): Needs<N> {
  class Need implements OwnNeed {
    readonly kind: string = spec.kind;
    readonly json: OfKind;
    readonly size: number;
    readonly #need: N;

    constructor(json: OfKind) {
      this.json = json;
      // Its guards have seen it.
      this.#need = json as N;
      this.size = spec.size?.(this.#need) ?? 0;
    }

    get family(): Family {
      return family();
    }

    get target(): string {
      return spec.target(this.#need);
    }

    get notPlain(): string | undefined {
      return spec.notPlain?.(this.#need);
    }

    get destination(): Destination | undefined {
      return spec.destination?.(this.#need);
    }

    narrowest(): LoadedCapability | undefined {
      const candidate = spec.narrowest(this.#need);
      const loaded = candidate && family().load(candidate);
      // A tool, and a model behind it, writes the texts of a need: a character that a pattern reads as a wildcard would grant other things.
      const isLiteral = loaded && hasOwn(loaded, "kind") && loaded.isNarrow;
      return isLiteral && loaded.covers(this, "authority") ? loaded : undefined;
    }

    static own(need: OwnNeed): N | undefined {
      return #need in need ? need.#need : undefined;
    }
  }

  const guards = Object.entries<Guard<unknown>>(spec.need);
  const read = (json: OfKind): Need => {
    const wrong = guards.find(([name, guard]) => !guard(hasOwn(json, name) ? json[name] : undefined));
    if (wrong) throw new TypeError(`Got a need of ${spec.kind} whose ${wrong[0]} has another form.`);
    return new Need(json);
  };
  return { read, own: Need.own };
}

function loaderOf<C extends OfKind, N extends OfKind>(
  spec: FamilySpec<C, N>,
  fields: ReadonlyMap<string, AnyField>,
  { own, read }: Needs<N>,
  family: () => Family,
): Family["load"] {
  class Capability implements LoadedCapability {
    readonly kind: string = spec.kind;
    readonly json: OfKind;
    readonly budget: CapabilityBudget;
    readonly limit: number;
    readonly secretsAt: (host: string) => readonly string[];
    readonly #capability: C;
    /** Made for the first request: most capabilities of a policy meet none. */
    #covers: Covers<N> | undefined;

    constructor(capability: C) {
      this.json = capability;
      this.#capability = capability;
      const { requests = Infinity, bytes = Infinity } = spec.budget?.(capability) ?? {};
      this.budget = { requests, bytes };
      this.limit = spec.limit?.(capability) ?? Infinity;
      this.secretsAt = spec.secret?.namesAt(capability) ?? noSecrets;
    }

    get family(): Family {
      return family();
    }

    get isNarrow(): boolean {
      return spec.isNarrow(this.#capability);
    }

    covers(need: OwnNeed, reading: Reading, size: number = need.size): boolean {
      const known = size <= this.limit ? own(need) : undefined;
      return known !== undefined && (this.#covers ??= spec.covers(this.#capability))(known, reading);
    }

    needsTo(target: TargetValues): readonly OwnNeed[] | string {
      const needs = spec.targetArguments?.needs(target, this.#capability) ?? [];
      return typeof needs === "string" ? needs : needs.map(read);
    }

    describe(): string {
      const text = spec.describe?.(this.#capability) ?? "";
      return text === "" ? spec.kind : `${spec.kind} ${text}`;
    }
  }

  return (json) => {
    const members: readonly (readonly [string, unknown])[] = Object.entries(json);
    for (const [name, value] of members) {
      const fault = fields.get(name)?.check?.(value);
      if (fault) return { ...fault, path: `/${name}${fault.path}` };
    }
    // Its schema has seen it.
    const capability = json as C;
    return spec.check?.(capability) ?? new Capability(capability);
  };
}

function conditionsOf<N>(
  specs: Readonly<Record<string, ConditionSpec<N>>>,
  { own }: Needs<N>,
): ReadonlyMap<string, Condition> {
  /** Of another family's need nothing is known: so it is held to be touched, and to be covered by nothing. */
  const holds = (test: (need: N) => boolean, otherwise: boolean) => (need: OwnNeed) => {
    const known = own(need);
    return known === undefined ? otherwise : test(known);
  };
  const conditionOf = ({ check, isOwn = () => true, schema = patternsSchema, touches, list }: ConditionSpec<N>) => {
    const touching = (patterns: readonly string[]) => holds(touches(patterns.filter(isOwn)), true);
    const refused =
      list &&
      (({ allowed, forbidden = [] }: Governed) => {
        const isForbidden = touching(forbidden);
        const isAllowed = allowed && holds(list.covers(allowed), false);
        return (need: OwnNeed) => {
          if (!isForbidden(need) && isAllowed?.(need) !== false) return undefined;
          const known = own(need);
          return known === undefined ? need.target : list.text(known);
        };
      });
    return { check, isOwn, schema, touches: touching, list: list && refused && { name: list.name, refused } };
  };
  return new Map(Object.entries(specs).map(([name, spec]) => [name, conditionOf(spec)]));
}
