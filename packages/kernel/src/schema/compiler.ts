import { ALWAYS, Budget, call, type Context, invalid, NEVER, OP, type Place, type Scope, type Unit } from "./context.ts";
import { all, arrays } from "./keywords/arrays.ts";
import { logic } from "./keywords/logic.ts";
import { numbers } from "./keywords/numbers.ts";
import { objects } from "./keywords/objects.ts";
import { strings } from "./keywords/strings.ts";
import { ANY_TYPE, typed, typeMask } from "./keywords/types.ts";
import { unevaluated } from "./keywords/unevaluated.ts";
import { values } from "./keywords/values.ts";
import { compilePattern, type Matcher } from "./regex/pattern.ts";
import { EXHAUSTED, Refusal } from "./refusal.ts";
import { isObject, type Resource, type Resources } from "./resources.ts";
import type { Check, CompileOptions, Idna, JsonObject } from "./types.ts";

const TYPE = 1, NUMBER = 2, STRING = 4, ARRAY = 8, OBJECT = 16, VALUES = 32, LOGIC = 64, UNEVALUATED = 128, REF = 256;

const GROUPS: ReadonlyMap<string, number> = new Map(
  Object.entries({
    type: TYPE,
    minimum: NUMBER, maximum: NUMBER, exclusiveMinimum: NUMBER, exclusiveMaximum: NUMBER, multipleOf: NUMBER,
    minLength: STRING, maxLength: STRING, pattern: STRING, format: STRING, contentEncoding: STRING, contentMediaType: STRING,
    items: ARRAY, prefixItems: ARRAY, additionalItems: ARRAY, contains: ARRAY, minItems: ARRAY, maxItems: ARRAY, uniqueItems: ARRAY,
    properties: OBJECT, patternProperties: OBJECT, additionalProperties: OBJECT, propertyNames: OBJECT, required: OBJECT,
    minProperties: OBJECT, maxProperties: OBJECT, dependentRequired: OBJECT, dependentSchemas: OBJECT, dependencies: OBJECT,
    enum: VALUES, const: VALUES,
    allOf: LOGIC, anyOf: LOGIC, oneOf: LOGIC, not: LOGIC, if: LOGIC,
    unevaluatedItems: UNEVALUATED, unevaluatedProperties: UNEVALUATED,
    $ref: REF, $dynamicRef: REF,
  }),
);

/** References followed at once; deeper ones wait their turn, so that a long chain cannot exhaust the stack. */
const EAGER = 32;

/** Groups of the validation vocabulary alone: a meta-schema can leave it out. The mixed groups look for themselves. */
const VALIDATION = TYPE | NUMBER | VALUES;

/** A subschema that some `$ref` leads to: compiled once for each dynamic scope. */
interface Target {
  unit: Unit | undefined;
  /** Compiled, being compiled (further up the stack), or put off. */
  state: "new" | "open" | "done";
  /** How deep in the value the compiler was when it began here. */
  descent: number;
  /** Targets that apply to the same value. */
  readonly inPlace: Set<Target>;
  readonly path: string;
}

export class Compiler implements Context {
  readonly resources: Resources;
  readonly budget: Budget;
  readonly trusted: boolean;
  readonly assertFormats: boolean;
  readonly idna: Idna | undefined;
  readonly #targets = new Map<unknown, Map<Scope, Target>>();
  readonly #scopes = new Map<string, Scope>();
  readonly #pending: (() => unknown)[] = [];
  readonly #checks = new Map<unknown, Map<Scope, Check>>();
  readonly #patterns = new Map<string, Matcher>();
  #rootUri = "";
  #nesting = 0;
  #descent = 0;
  #subschemas = 0;
  #owner: Target = { unit: undefined, state: "open", descent: 0, inPlace: new Set(), path: "" };
  /** True when a check can spend steps: only then does it need a budget. */
  metered = false;

  constructor(resources: Resources, budget: Budget, options: CompileOptions) {
    this.resources = resources;
    this.budget = budget;
    this.trusted = options.trusted === true;
    this.assertFormats = options.formats !== "annotate";
    this.idna = options.idna;
  }

  root(resource: Resource): { unit: Unit; place: Place } {
    this.#rootUri = resource.uri;
    const place = this.#enter({ resource, scope: new Map(), path: "" }, resource, "");
    const target = this.#target(resource.root, place);
    const unit = this.#compileTarget(target, resource.root, place);
    for (let next = this.#pending.pop(); next !== undefined; next = this.#pending.pop()) next();
    if (this.metered) this.#refuseCycles();
    this.#subschemas = -Infinity; // what is compiled later, to explain errors, was counted here
    return { unit, place };
  }

  inPlace(schema: unknown, place: Place): Unit {
    if (schema === true) return ALWAYS;
    if (schema === false) return NEVER;
    if (!isObject(schema)) throw new Refusal("KEYWORD_INVALID", "A schema must be an object or a boolean.", place.path);
    const { subschemas } = this.budget.limits;
    if (++this.#subschemas > subschemas) throw new Refusal("SCHEMA_TOO_LARGE", `The schema has more than ${subschemas} subschemas.`, place.path);
    return this.#unit(schema, this.locate(schema, place));
  }

  child(schema: unknown, place: Place): Unit {
    this.#descent++;
    const unit = this.inPlace(schema, place);
    this.#descent--;
    return unit;
  }

  check(schema: unknown, place: Place): Check {
    let scopes = this.#checks.get(schema);
    if (scopes === undefined) this.#checks.set(schema, (scopes = new Map()));
    let check = scopes.get(place.scope);
    if (check === undefined) scopes.set(place.scope, (check = this.inPlace(schema, place).check));
    return check;
  }

  pattern(source: string, path: string): Matcher {
    let matcher = this.#patterns.get(source);
    if (matcher === undefined) this.#patterns.set(source, (matcher = compilePattern(source, path, this)));
    return matcher;
  }

  locate(schema: unknown, place: Place): Place {
    const resource = this.resources.enclosing(schema, place.resource);
    return resource === place.resource ? place : this.#enter(place, resource, place.path);
  }

  follow(reference: unknown, dynamic: boolean, place: Place): { schema: unknown; place: Place } {
    const keyword = dynamic ? "$dynamicRef" : "$ref";
    if (typeof reference !== "string") throw invalid(place, keyword, "a string");
    const found = this.resources.resolve(reference, place.resource, `${place.path}/${keyword}`);
    const outermost = dynamic && found.dynamicAnchor !== undefined ? place.scope.get(found.dynamicAnchor) : undefined;
    const { schema, resource, path } = outermost ?? found;
    return { schema, place: this.#enter(place, resource, resource.uri === this.#rootUri ? path : `${resource.uri}#${path}`) };
  }

  /** The place inside a resource: its dynamic anchors join the scope, unless an outer resource has the same names. */
  #enter(place: Place, resource: Resource, path: string): Place {
    let { scope } = place;
    for (const [name, anchored] of resource.dynamicAnchors) {
      if (scope.has(name)) continue;
      if (scope === place.scope) scope = new Map(scope);
      (scope as Map<string, Scope extends ReadonlyMap<string, infer Entry> ? Entry : never>).set(name, { ...anchored, resource });
    }
    if (scope.size > 0) {
      const key = [...scope].map(([name, to]) => `${name} ${to.resource.uri}`).sort().join("\n");
      const known = this.#scopes.get(key);
      if (known === undefined) this.#scopes.set(key, scope);
      else scope = known;
    } else scope = EMPTY;
    return { resource, scope, path };
  }

  #unit(schema: JsonObject, place: Place): Unit {
    let groups = 0;
    for (const key in schema) groups |= GROUPS.get(key) ?? 0;
    const { dialect } = place.resource;
    if (!dialect.validation) groups &= ~VALIDATION;
    if ((groups & REF) !== 0 && dialect.year === 7) return schema["$ref"] === undefined ? this.#plain(schema, place, groups & ~REF) : this.#ref(schema["$ref"], false, place);
    return this.#plain(schema, place, groups);
  }

  #plain(schema: JsonObject, place: Place, groups: number): Unit {
    const modern = place.resource.dialect.year !== 7;
    const main = typed((groups & TYPE) === 0 ? ANY_TYPE : typeMask(schema["type"], place), {
      number: (groups & NUMBER) === 0 ? undefined : numbers(schema, place),
      string: (groups & STRING) === 0 ? undefined : strings(schema, place, this),
      array: (groups & ARRAY) === 0 ? undefined : arrays(schema, place, this),
      object: (groups & OBJECT) === 0 ? undefined : objects(schema, place, this),
    });
    if ((groups & ~(TYPE | NUMBER | STRING | ARRAY | OBJECT)) === 0) return main;
    const units = main === ALWAYS ? [] : [main];
    if ((groups & VALUES) !== 0) units.unshift(...values(schema, place));
    if ((groups & REF) !== 0) {
      if (schema["$ref"] !== undefined) units.push(this.#ref(schema["$ref"], false, place));
      if (schema["$dynamicRef"] !== undefined) units.push(this.#ref(schema["$dynamicRef"], true, place));
    }
    if ((groups & LOGIC) !== 0) {
      this.metered = true;
      units.push(...logic(schema, place, this));
    }
    if ((groups & UNEVALUATED) !== 0 && modern) {
      this.metered = true;
      const array = unevaluated(schema, place, "Items", this);
      const object = unevaluated(schema, place, "Properties", this);
      units.push(typed(ANY_TYPE, { number: undefined, string: undefined, array, object }));
    }
    const needed = units.filter((unit) => unit.op !== OP.ANY);
    if (needed.length === 1) return needed[0] as Unit;
    const check = all(needed.map((unit) => unit.check));
    return check === undefined ? ALWAYS : call(check);
  }

  #ref(reference: unknown, dynamic: boolean, from: Place): Unit {
    const { schema, place } = this.follow(reference, dynamic, from);
    if (typeof schema === "boolean") return schema ? ALWAYS : NEVER;
    const target = this.#target(schema, place);
    if (this.#descent === this.#owner.descent) this.#owner.inPlace.add(target);
    if (target.state === "new") {
      if (this.#nesting < EAGER) this.#compileTarget(target, schema, place);
      else this.#pending.push(() => target.state === "new" && this.#compileTarget(target, schema, place));
    }
    if (target.unit !== undefined && target.unit.op !== OP.CALL) return target.unit;
    this.metered = true;
    const { budget } = this;
    return call((value) => {
      if (--budget.steps < 0 || --budget.depth < 0) throw EXHAUSTED;
      const ok = (target.unit as Unit).check(value);
      budget.depth++;
      return ok;
    });
  }

  #target(schema: unknown, place: Place): Target {
    let scopes = this.#targets.get(schema);
    if (scopes === undefined) this.#targets.set(schema, (scopes = new Map()));
    let target = scopes.get(place.scope);
    if (target === undefined) {
      target = { unit: undefined, state: "new", descent: 0, inPlace: new Set(), path: place.path };
      scopes.set(place.scope, target);
    }
    return target;
  }

  #compileTarget(target: Target, schema: unknown, place: Place): Unit {
    const outer = this.#owner;
    this.#owner = target;
    this.#nesting++;
    target.state = "open";
    target.descent = this.#descent;
    const unit = this.inPlace(schema, place);
    target.unit = unit;
    target.state = "done";
    this.#nesting--;
    this.#owner = outer;
    return unit;
  }

  /** A cycle of references that stays at the same value would never end. */
  #refuseCycles(): void {
    const done = new Set<Target>();
    const open = new Set<Target>();
    const { refDepth } = this.budget.limits;
    const visit = (target: Target): void => {
      if (done.has(target)) return;
      if (open.size > refDepth) throw new Refusal("SCHEMA_TOO_DEEP", `More than ${refDepth} references apply to one value.`, target.path);
      if (open.has(target)) throw new Refusal("REF_CYCLE", "The references lead back to themselves without going into the value.", target.path);
      open.add(target);
      target.inPlace.forEach(visit);
      open.delete(target);
      done.add(target);
    };
    for (const scopes of this.#targets.values()) scopes.forEach(visit);
  }
}

const EMPTY: Scope = new Map();
