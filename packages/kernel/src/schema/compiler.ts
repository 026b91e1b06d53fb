import { deeper } from "./budget.ts";
import { type Context, hasKeywords, type Keywords, type Place, type Scope, text } from "./context.ts";
import { supported } from "./dialect.ts";
import { isObject } from "./equal.ts";
import { arrays } from "./keywords/arrays.ts";
import { logic } from "./keywords/logic.ts";
import { numbers } from "./keywords/numbers.ts";
import { objects } from "./keywords/objects.ts";
import { strings } from "./keywords/strings.ts";
import { ANY_TYPE, typed, typeMask } from "./keywords/types.ts";
import { unevaluated } from "./keywords/unevaluated.ts";
import { values } from "./keywords/values.ts";
import type { Limits } from "./limits.ts";
import { Refusal, tooMuch } from "./refusal.ts";
import { Patterns } from "./regex/pattern.ts";
import type { Located, Resource, Resources } from "./resources.ts";
import type { CompileOptions } from "./types.ts";
import { all, ALWAYS, ANY, call, CALL, NEVER, type Unit } from "./unit.ts";

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

/** The context in which the keywords of one validator are compiled, and the place of its root. */
export function compiler(
  resources: Resources,
  limits: Limits,
  options: CompileOptions,
  root: Resource,
): { readonly context: Context; readonly place: Place } {
  const targets = new Map<unknown, Map<Scope, Target>>();
  const scopes = new Map<string, Scope>();
  const patterns = new Patterns(limits, options.trusted === true);
  let nesting = 0;
  let descent = 0;
  let subschemas = 0;
  let owner: Target = { unit: undefined, descent: 0, inPlace: new Set(), path: "" };

  /** The place in a resource: its dynamic anchors join the scope, unless an outer resource has the same names. */
  const enter = ({ schema, resource, path }: Located, from?: Place): Place => {
    const outer: Scope = from?.scope ?? new Map();
    // Within a resource there is nothing new, however many anchors and references it has.
    const fresh = resource === from?.resource ? [] : [...resource.dynamic].filter(([name]) => !outer.has(name));
    if (fresh.length === 0) return { schema, resource, scope: outer, path };
    const scope = new Map([...outer, ...fresh]);
    // One object for each scope: what is compiled is kept by it.
    const key = [...scope]
      .map(([name, to]) => `${name} ${to.resource.uri}`)
      .sort()
      .join("\n");
    const known = scopes.get(key) ?? scope;
    scopes.set(key, known);
    return { schema, resource, scope: known, path };
  };

  const ref = (from: Keywords, keyword: string): Unit => {
    const place = context.follow(from, keyword);
    if (!isObject(place.schema)) return context.inPlace(place);
    const target = targetOf(place);
    if (descent === owner.descent) owner.inPlace.add(target);
    if (target.unit !== undefined && target.unit.op !== CALL) return target.unit;
    return call((value) => deeper((target.unit as Unit).check, value));
  };

  const unit = (place: Keywords): Unit => {
    const { schema } = place;
    // A hint, to save time: who is asked without need finds nothing. Each pattern finds all keywords of its group.
    const keys = Object.keys(schema).join();
    if (keys === "type") return typed(typeMask(place)); // Most leaves: a sixth of the time that compiling took.
    const units = [
      typed(
        schema["type"] === undefined ? ANY_TYPE : typeMask(place),
        /imum|multi/.test(keys) ? numbers(place) : undefined,
        /Len|patt|form|conte/.test(keys) ? strings(place, context) : undefined,
        /tems|conta/.test(keys) ? arrays(place, context) : undefined,
        /ropert|requ|depend/.test(keys) ? objects(place, context) : undefined,
      ),
    ];
    if (/enum|const/.test(keys)) units.unshift(...values(place, context));
    if (schema["$ref"] !== undefined) units.push(ref(place, "$ref"));
    if (schema["$dynamicRef"] !== undefined) units.push(ref(place, "$dynamicRef"));
    if (/Of|not|if/.test(keys)) units.push(...logic(place, context));
    if (keys.includes("uneval")) {
      const array = unevaluated(place, "unevaluatedItems", context);
      const object = unevaluated(place, "unevaluatedProperties", context);
      units.push(typed(ANY_TYPE, undefined, undefined, array, object));
    }
    const needed = units.length === 1 ? units : units.filter(({ op }) => op !== ANY);
    if (needed.length === 1) return needed[0] as Unit;
    if (needed.includes(NEVER)) return NEVER;
    const check = all(needed.map((each) => each.check));
    return check === undefined ? ALWAYS : call(check);
  };

  const targetOf = (place: Place): Target => {
    const byScope = targets.get(place.schema) ?? new Map<Scope, Target>();
    targets.set(place.schema, byScope);
    const known = byScope.get(place.scope);
    if (known !== undefined) return known;
    const target: Target = { unit: undefined, descent, inPlace: new Set(), path: place.path };
    byScope.set(place.scope, target);
    if (nesting++ > limits.refDepth)
      throw tooMuch("SCHEMA_TOO_DEEP", limits.refDepth, "references in a chain", place.path);
    const outer = owner;
    owner = target;
    try {
      target.unit = context.inPlace(place);
    } finally {
      owner = outer;
      nesting--;
      // Later compiling, to explain an error, may run out of stack: nothing half made stays behind.
      if (target.unit === undefined) byScope.delete(place.scope);
    }
    return target;
  };

  /** A cycle of references that stays at the same value would never end. */
  const refuseCycles = (): void => {
    const done = new Set<Target>();
    const open = new Set<Target>();
    const visit = (target: Target): void => {
      if (open.has(target))
        throw new Refusal("REF_CYCLE", "The references lead back to themselves within one value.", target.path);
      if (done.has(target)) return;
      done.add(target);
      open.add(target);
      target.inPlace.forEach(visit);
      open.delete(target);
    };
    for (const byScope of targets.values()) byScope.forEach(visit);
  };

  const context: Context = {
    limits,
    options,
    warnings: [],
    check: (place) => (isObject(place.schema) ? (targetOf(place).unit as Unit) : context.inPlace(place)).check,
    checkAlone: (place) => context.inPlace(place).check,
    isNever: (place) => context.check(place) === NEVER.check,
    pattern: (source, path) => patterns.get(source, path),
    inPlace(place) {
      const { schema, path } = place;
      if (schema === true || schema === undefined) return ALWAYS;
      if (schema === false) return NEVER;
      if (!hasKeywords(place)) throw new Refusal("KEYWORD_INVALID", "A schema must be an object or a boolean.", path);
      if (++subschemas > limits.subschemas) throw tooMuch("SCHEMA_TOO_LARGE", limits.subschemas, "subschemas", path);
      return unit(context.locate(place));
    },
    child(place) {
      descent++;
      const compiled = context.inPlace(place);
      descent--;
      return compiled;
    },
    locate(place) {
      const resource = resources.enclosing(place.schema, place.resource);
      const found = resource === place.resource ? place : enter({ ...place, resource }, place);
      const schema = supported(place.schema, resource.dialect);
      return schema === place.schema ? (found as Keywords) : { ...found, schema };
    },
    follow(place, keyword) {
      const found = resources.resolve(text(place, keyword) as string, place.resource, `${place.path}/${keyword}`);
      const outermost = keyword === "$dynamicRef" && found.name !== undefined ? place.scope.get(found.name) : undefined;
      return enter(outermost ?? found, place);
    },
  };
  const place = enter({ schema: root.root, resource: root, path: "" });
  context.check(place);
  refuseCycles();
  subschemas = -Infinity; // what is compiled later, to explain errors, was counted here
  return { context, place };
}
