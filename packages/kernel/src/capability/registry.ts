import { hasOwn, present } from "../support/guards.ts";
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from "../json/json.ts";
import { isFamily } from "./define-family.ts";
import type { Condition, Family, LoadedCapability, OfKind, OwnNeed } from "./family.ts";
import type { CapabilityFault } from "./fields.ts";
import { bringFamily } from "./next-steps.ts";
import { snapshot } from "../json/snapshot.ts";
import { noParts } from "../schema/no-parts.ts";
import { requireValidator } from "../schema/compile-own.ts";
import type { OwnValidator, SchemaParts } from "../schema/types.ts";

/** The families of one kernel: the only kinds that it knows. */
export class Families {
  readonly #families = new Map<string, Family>();
  #validator: OwnValidator | undefined;
  /** For the schemas of capabilities, of the manifests that declare them, and of their tools. */
  readonly schemaParts: SchemaParts;

  /** @throws TypeError for a value that is no family, and for two families of one kind */
  constructor(families: Iterable<Family>, schemaParts: Partial<SchemaParts> = {}) {
    this.schemaParts = { ...noParts, ...schemaParts };
    for (const family of families) {
      if (!isFamily(family)) throw new TypeError("Got a value that is no family, expected a result of `defineFamily`.");
      const known = this.#families.get(family.kind);
      if (known && known !== family)
        throw new TypeError(
          `Got two families of the kind ${family.kind}, expected one. Remove one of the two brokers.`,
        );
      this.#families.set(family.kind, family);
    }
  }

  get kinds(): readonly string[] {
    return [...this.#families.keys()];
  }

  /** The kinds that a manifest lists as effects. */
  get effects(): readonly string[] {
    return [...this.#families.values()].flatMap(({ kind, effect }) => (effect === "none" ? [] : [kind]));
  }

  /** In the given order. */
  [Symbol.iterator](): Iterator<Family> {
    return this.#families.values();
  }

  /**
   * These and others.
   *
   * @throws TypeError as the constructor does
   */
  with(others: Iterable<Family>, parts?: Partial<SchemaParts>): Families {
    const more = [...others].filter((each) => this.#families.get(each.kind) !== each);
    // The same object, without a change: the registry derives its values once.
    return more.length === 0 && !parts ? this : new Families([...this, ...more], { ...this.schemaParts, ...parts });
  }

  /** The conditions of rules that a request can show, by name: all of one name, of different families. */
  get conditions(): ReadonlyMap<string, readonly Condition[]> {
    const entries = [...this.#families.values()].flatMap((family) => [...family.conditions]);
    const byName = Map.groupBy(entries, ([name]) => name);
    return new Map(Array.from(byName, ([name, group]) => [name, group.map(([, condition]) => condition)]));
  }

  /**
   * The members of policies for their requests: `when.NAME` in a rule, `tools.NAME` and
   * `sizes.NAME` for one tool.
   */
  get members(): ReadonlySet<string> {
    const conditions = [...this.conditions].flatMap(([name, group]) => [
      `when.${name}`,
      ...group.flatMap(({ list }) => (list ? [`tools.${list.name}`] : [])),
    ]);
    const sizes = [...this.#families.values()].flatMap(({ sizeName }) => (sizeName ? [`sizes.${sizeName}`] : []));
    return new Set([...conditions, ...sizes]);
  }

  /** The family that grants commands. */
  get commands(): Family | undefined {
    return [...this.#families.values()].find(({ commandNeed }) => commandNeed);
  }

  /** The family that grants secrets. */
  get secrets(): Family | undefined {
    return [...this.#families.values()].find(({ secretNeed }) => secretNeed);
  }

  get(kind: string): Family | undefined {
    return this.#families.get(kind);
  }

  /** The first capability of unknown kind in a list of a document that no schema has seen. Where `member` is given, each item has its capability there. */
  unknownIn(document: JsonValue, listName: string, member?: string): CapabilityFault | undefined {
    const list = isJsonObject(document) ? document[listName] : undefined;
    if (!isJsonArray(list)) return undefined;
    for (const [index, item] of list.entries()) {
      const capability = member === undefined || !isJsonObject(item) ? item : item[member];
      const kind = isJsonObject(capability) ? capability["kind"] : undefined;
      if (typeof kind !== "string" || this.#families.has(kind)) continue;
      const at = `/${listName}/${index}`;
      return { ...this.#unknown(kind), path: member === undefined ? `${at}/kind` : `${at}/${member}/kind` };
    }
    return undefined;
  }

  /** One line for people. Of a capability that is not known, or not one, it is the kind. */
  describe(capability: OfKind): string {
    const read = this.read([capability]);
    const [loaded] = typeof read === "string" ? [] : read;
    return loaded ? loaded.describe() : capability.kind;
  }

  /** Takes a capability of {@link schema}. */
  load(capability: OfKind): LoadedCapability | CapabilityFault {
    return this.#families.get(capability.kind)?.load(capability) ?? this.#unknown(capability.kind);
  }

  /** Foreign capabilities, or the fault of the first wrong one as a sentence. */
  read(foreign: unknown): readonly LoadedCapability[] | string {
    this.#validator ??= requireValidator({ type: "array", items: this.schema(), maxItems: 1_000 }, this.schemaParts);
    const plain = snapshot(foreign);
    if (!plain.ok) return `The capabilities are not plain JSON data: ${plain.error.message}.`;
    const valid = this.#validator.validateOwn(plain.value);
    if (!valid.ok) return `${present(valid.errors[0]).message}.`;
    const loaded: LoadedCapability[] = [];
    for (const each of valid.value as readonly OfKind[]) {
      const capability = this.load(each);
      if (!hasOwn(capability, "kind")) return capability.message;
      loaded.push(capability);
    }
    return loaded;
  }

  /** Those of known kinds, of capabilities that were checked before, here or by another kernel. Another one covers nothing. */
  known(capabilities: readonly OfKind[]): readonly LoadedCapability[] {
    return capabilities.flatMap((each) => {
      const loaded = this.load(each);
      return hasOwn(loaded, "kind") ? [loaded] : [];
    });
  }

  /** @throws TypeError for what is no need of a known kind */
  need(json: OfKind): OwnNeed {
    const family = this.#families.get(json.kind);
    if (!family) throw new TypeError(this.#unknown(json.kind).message);
    return family.need(json);
  }

  /** JSON Schema (2020-12) of a capability, with more properties where a document adds some. */
  schema(more: (family: Family) => JsonObject = () => ({})): JsonObject {
    const alike = Map.groupBy(this.#families.values(), (family) =>
      JSON.stringify([family.properties, family.required, more(family)]),
    );
    if (alike.size === 0) return { not: {} };
    return {
      oneOf: Array.from(alike.values()).flatMap(([first, ...others]) => {
        if (!first) return [];
        const kind =
          others.length === 0 ? { const: first.kind } : { enum: [first, ...others].map((each) => each.kind) };
        const properties = { kind, ...first.properties, ...more(first) };
        return [{ type: "object", properties, required: ["kind", ...first.required], additionalProperties: false }];
      }),
    };
  }

  #unknown(kind: string): CapabilityFault {
    return {
      path: "/kind",
      message: `This kernel knows no kind ${JSON.stringify(kind.slice(0, 100))}; it knows ${this.kinds.join(", ") || "none"}.`,
      hint: bringFamily,
    };
  }
}
