import {
  ALWAYS,
  type Budget,
  call,
  type Context,
  invalid,
  NEVER,
  ANY,
  CALL,
  type Place,
  type Scope,
  type Unit,
} from "./context.ts";
import { all, arrays, asUnit } from "./keywords/arrays.ts";
import { logic } from "./keywords/logic.ts";
import { numbers } from "./keywords/numbers.ts";
import { objects } from "./keywords/objects.ts";
import { strings } from "./keywords/strings.ts";
import { ANY_TYPE, typed, typeMask } from "./keywords/types.ts";
import { unevaluated } from "./keywords/unevaluated.ts";
import { values } from "./keywords/values.ts";
import { compilePattern, type Matcher } from "./regex/pattern.ts";
import { EXHAUSTED, Refusal } from "./refusal.ts";
import { isObject } from "./equal.ts";
import type { Resource, Resources } from "./resources.ts";
import type { Check, CompileOptions, Idna, JsonObject } from "./types.ts";

/** A subschema that some `$ref` leads to: compiled once for each dynamic scope. */
interface Target {
  /** Undefined while it is being compiled, further up the stack. */
  unit: Unit | undefined;
  /** How deep in the value the compiler was when it began here. */
  readonly descent: number;
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
  readonly #patterns = new Map<string, Matcher>();
  #rootUri = "";
  #nesting = 0;
  #descent = 0;
  #subschemas = 0;
  #owner: Target = { unit: undefined, descent: 0, inPlace: new Set(), path: "" };

  constructor(resources: Resources, budget: Budget, options: CompileOptions) {
    this.resources = resources;
    this.budget = budget;
    this.trusted = options.trusted === true;
    this.assertFormats = options.formats !== "annotate";
    this.idna = options.idna;
  }

  root(resource: Resource): { check: Check; place: Place } {
    this.#rootUri = resource.uri;
    const place = this.#enter({ resource, scope: new Map(), path: "" }, resource, "");
    const check = this.check(resource.root, place);
    this.#refuseCycles();
    this.#subschemas = -Infinity; // what is compiled later, to explain errors, was counted here
    return { check, place };
  }

  inPlace(schema: unknown, place: Place): Unit {
    if (schema === true) return ALWAYS;
    if (schema === false) return NEVER;
    if (!isObject(schema)) throw new Refusal("KEYWORD_INVALID", "A schema must be an object or a boolean.", place.path);
    const { subschemas } = this.budget.limits;
    if (++this.#subschemas > subschemas)
      throw new Refusal("SCHEMA_TOO_LARGE", `The schema has more than ${subschemas} subschemas.`, place.path);
    return this.#unit(schema, this.locate(schema, place));
  }

  child(schema: unknown, place: Place): Unit {
    this.#descent++;
    const unit = this.inPlace(schema, place);
    this.#descent--;
    return unit;
  }

  check(schema: unknown, place: Place): Check {
    return isObject(schema) ? (this.#target(schema, place).unit as Unit).check : this.inPlace(schema, place).check;
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
    return {
      schema,
      place: this.#enter(place, resource, resource.uri === this.#rootUri ? path : `${resource.uri}#${path}`),
    };
  }

  /** The place inside a resource: its dynamic anchors join the scope, unless an outer resource has the same names. */
  #enter(place: Place, resource: Resource, path: string): Place {
    let { scope } = place;
    for (const [name, anchored] of resource.dynamicAnchors) {
      if (scope.has(name)) continue;
      if (scope === place.scope) scope = new Map(scope);
      (scope as Map<string, Scope extends ReadonlyMap<string, infer Entry> ? Entry : never>).set(name, {
        ...anchored,
        resource,
      });
    }
    if (scope === place.scope) return { resource, scope, path };
    // One object for each scope: what is compiled is kept by it.
    const key = [...scope]
      .map(([name, to]) => `${name} ${to.resource.uri}`)
      .sort()
      .join("\n");
    const known = this.#scopes.get(key) ?? scope;
    this.#scopes.set(key, known);
    return { resource, scope: known, path };
  }

  #unit(schema: JsonObject, place: Place): Unit {
    const { year, validation } = place.resource.dialect;
    const { $ref, $dynamicRef, type } = schema;
    if (year === 7 && $ref !== undefined) return this.#ref($ref, false, place);
    // A hint, to save time: who is asked without need finds nothing. Each pattern finds all keywords of its group.
    const keys = Object.keys(schema).join();
    const units = [
      typed(
        validation && type !== undefined ? typeMask(type, place) : ANY_TYPE,
        validation && /imum|multi/.test(keys) ? numbers(schema, place) : undefined,
        /Len|patt|form|conte/.test(keys) ? strings(schema, place, this) : undefined,
        /tems|conta/.test(keys) ? arrays(schema, place, this) : undefined,
        /ropert|requ|depend/.test(keys) ? objects(schema, place, this) : undefined,
      ),
    ];
    if (validation && /enum|const/.test(keys)) units.unshift(...values(schema, place));
    if ($ref !== undefined) units.push(this.#ref($ref, false, place));
    if (year !== 7 && $dynamicRef !== undefined) units.push(this.#ref($dynamicRef, true, place));
    if (/Of|not|if/.test(keys)) units.push(...logic(schema, place, this));
    if (year !== 7 && /uneval/.test(keys)) {
      const array = unevaluated(schema, place, "Items", this);
      const object = unevaluated(schema, place, "Properties", this);
      units.push(typed(ANY_TYPE, undefined, undefined, array, object));
    }
    const needed = units.length === 1 ? units : units.filter((unit) => unit.op !== ANY);
    return needed.length === 1 ? (needed[0] as Unit) : asUnit(all(needed.map((unit) => unit.check)));
  }

  #ref(reference: unknown, dynamic: boolean, from: Place): Unit {
    const { schema, place } = this.follow(reference, dynamic, from);
    if (typeof schema === "boolean") return schema ? ALWAYS : NEVER;
    const target = this.#target(schema, place);
    if (this.#descent === this.#owner.descent) this.#owner.inPlace.add(target);
    if (target.unit !== undefined && target.unit.op !== CALL) return target.unit;
    const { budget } = this;
    return call((value) => {
      budget.spendOn(value, 1);
      if (--budget.depth < 0) throw EXHAUSTED;
      const ok = (target.unit as Unit).check(value);
      budget.depth++;
      return ok;
    });
  }

  #target(schema: unknown, place: Place): Target {
    let scopes = this.#targets.get(schema);
    if (scopes === undefined) this.#targets.set(schema, (scopes = new Map<Scope, Target>()));
    const known = scopes.get(place.scope);
    if (known !== undefined) return known;
    const target: Target = { unit: undefined, descent: this.#descent, inPlace: new Set(), path: place.path };
    scopes.set(place.scope, target);
    const { refDepth } = this.budget.limits;
    if (this.#nesting++ > refDepth)
      throw new Refusal("SCHEMA_TOO_DEEP", `More than ${refDepth} references form a chain.`, place.path);
    const outer = this.#owner;
    this.#owner = target;
    try {
      target.unit = this.inPlace(schema, place);
    } finally {
      this.#owner = outer;
      this.#nesting--;
      // Later compiling, to explain an error, may run out of stack: nothing half made stays behind.
      if (target.unit === undefined) scopes.delete(place.scope);
    }
    return target;
  }

  /** A cycle of references that stays at the same value would never end. */
  #refuseCycles(): void {
    const done = new Set<Target>();
    const open = new Set<Target>();
    const visit = (target: Target): void => {
      if (done.has(target)) return;
      if (open.has(target))
        throw new Refusal(
          "REF_CYCLE",
          "The references lead back to themselves without going into the value.",
          target.path,
        );
      open.add(target);
      target.inPlace.forEach(visit);
      open.delete(target);
      done.add(target);
    };
    for (const scopes of this.#targets.values()) scopes.forEach(visit);
  }
}
