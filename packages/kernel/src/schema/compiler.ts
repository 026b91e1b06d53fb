import { check } from "./check.ts";
import { type Context, hasKeywords, type Keywords, type Place, type Scope, text } from "./context.ts";
import { supported } from "./dialect.ts";
import { isObject } from "./equal.ts";
import { logic } from "./keywords/logic.ts";
import { typed } from "./keywords/typed.ts";
import { unevaluated } from "./keywords/unevaluated.ts";
import { values } from "./keywords/values.ts";
import type { Limits } from "./limits.ts";
import { ALL, ALWAYS, ANY, CHOICE, type Default, NEVER, Node, REF, STRING } from "./node.ts";
import { Patterns } from "./patterns.ts";
import { Refusal, tooMuch } from "./refusal.ts";
import type { Located, Resource, Resources } from "./resources.ts";
import type { Check, CompileWithParts, Pattern } from "./types.ts";

/** A subschema that some `$ref` leads to: compiled once for each dynamic scope. */
interface Target {
  /** Undefined during its compilation, further up the stack. */
  node: Node | undefined;
  /** Nodes that refer to it from inside of it. */
  readonly refs: Node[];
  /** How deep in the value the compiler was when it began here. */
  readonly descent: number;
  /** Targets that apply to the same value. */
  readonly inPlace: Set<Target>;
  readonly path: string;
}

const newTarget = (descent: number, path: string): Target => ({
  node: undefined,
  refs: [],
  descent,
  inPlace: new Set(),
  path,
});

interface Compiled {
  readonly context: Context;
  readonly place: Place;
  readonly node: Node;
  readonly defaults: readonly Default[];
}

/** Compiles a document, and what it refers to. */
export function compile(resources: Resources, limits: Limits, options: CompileWithParts, root: Resource): Compiled {
  const compiler = new Compiler(resources, limits, options);
  const place = compiler.enter({ schema: root.root, resource: root, path: "" });
  const node = compiler.nodeOf(place);
  return { context: compiler, place, node, defaults: compiler.finish() };
}

class Compiler implements Context {
  readonly limits: Limits;
  readonly options: CompileWithParts;
  defaults: Default[] | undefined = [];
  readonly #resources: Resources;
  readonly #patterns: Patterns;
  readonly #targets = new Map<unknown, Map<Scope, Target>>();
  readonly #scopes = new Map<string, Scope>();
  #nesting = 0;
  #descent = 0;
  #subschemas = 0;
  #owner: Target = newTarget(0, "");

  constructor(resources: Resources, limits: Limits, options: CompileWithParts) {
    this.#resources = resources;
    this.limits = limits;
    this.options = options;
    this.#patterns = new Patterns(limits, options.trusted === true, options.linearPatterns);
  }

  check(place: Place): Check {
    const node = this.nodeOf(place);
    return (value) => check(node, value);
  }

  checkAlone(place: Keywords): Check {
    const node = this.inPlace(place);
    return (value) => check(node, value);
  }

  isNever(place: Place): boolean {
    return this.nodeOf(place) === NEVER;
  }

  pattern(source: string, path: string): Pattern {
    return this.#patterns.get(source, path);
  }

  nodeOf(place: Place): Node {
    return isObject(place.schema) ? (this.#targetOf(place).node as Node) : this.inPlace(place);
  }

  readonly inPlace = (place: Place): Node => {
    const { schema, path } = place;
    if (schema === true || schema === undefined) return ALWAYS;
    if (schema === false) return NEVER;
    if (!hasKeywords(place)) throw new Refusal("KEYWORD_INVALID", "A schema must be an object or a boolean.", path);
    const most = this.limits.subschemas;
    if (++this.#subschemas > most) throw tooMuch("SCHEMA_TOO_LARGE", most, "subschemas", path);
    return this.#unit(this.locate(place));
  };

  readonly child = (place: Place): Node => {
    this.#descent++;
    const node = this.inPlace(place);
    this.#descent--;
    return node;
  };

  locate(place: Keywords): Keywords {
    const resource = this.#resources.enclosing(place.schema, place.resource);
    const found = resource === place.resource ? place : this.enter({ ...place, resource }, place);
    const schema = supported(place.schema, resource.dialect);
    return schema === place.schema ? (found as Keywords) : { ...found, schema };
  }

  follow(place: Keywords, keyword: string): Place {
    const reference = text(place, keyword) as string;
    const found = this.#resources.resolve(reference, place.resource, `${place.path}/${keyword}`);
    const outermost = keyword === "$dynamicRef" && found.name !== undefined ? place.scope.get(found.name) : undefined;
    return this.enter(outermost ?? found, place);
  }

  /** The place in a resource: its dynamic anchors join the scope, unless an outer resource has the same names. */
  enter({ schema, resource, path }: Located, from?: Place): Place {
    const outer: Scope = from?.scope ?? new Map();
    // Within a resource there is nothing new, however many anchors and references it has.
    const fresh = resource === from?.resource ? [] : [...resource.dynamic].filter(([name]) => !outer.has(name));
    if (fresh.length === 0) return { schema, resource, scope: outer, path };
    const scope = new Map([...outer, ...fresh]);
    // One object for each scope: it is the key of compiled nodes.
    const key = [...scope]
      .map(([name, to]) => `${name} ${to.resource.uri}`)
      .sort()
      .join("\n");
    const known = this.#scopes.get(key) ?? scope;
    this.#scopes.set(key, known);
    return { schema, resource, scope: known, path };
  }

  /** Refuses a schema whose compilation never ends. The count includes the parts that compile later, to explain errors. */
  finish(): readonly Default[] {
    refuseCycles([...this.#targets.values()].flatMap((byScope) => [...byScope.values()]));
    this.#subschemas = -Infinity;
    const defaults = this.defaults ?? [];
    this.defaults = undefined;
    return defaults;
  }

  #unit(place: Keywords): Node {
    const { schema } = place;
    const keys = Object.keys(schema).join();
    const own = typed(place, keys, this);
    if (keys === "type") return own;
    const nodes = /enum|const/.test(keys) ? values(place) : [];
    // An enum of strings says that it is a string, too.
    if (own.op !== STRING || nodes[0]?.op !== CHOICE) nodes.push(own);
    for (const keyword of ["$ref", "$dynamicRef"])
      if (schema[keyword] !== undefined) nodes.push(this.#ref(place, keyword));
    if (/Of|not|if/.test(keys)) nodes.push(...logic(place, this));
    if (keys.includes("uneval")) nodes.push(unevaluated(place, this));
    const needed = nodes.filter(({ op }) => op !== ANY);
    if (needed.length < 2) return needed[0] ?? ALWAYS;
    if (needed.includes(NEVER)) return NEVER;
    const node = new Node(ALL);
    node.list = needed;
    node.a = own;
    node.fills = needed.some(({ fills }) => fills);
    return node;
  }

  #ref(from: Keywords, keyword: string): Node {
    const place = this.follow(from, keyword);
    if (!isObject(place.schema)) return this.inPlace(place);
    const target = this.#targetOf(place);
    if (this.#descent === this.#owner.descent) this.#owner.inPlace.add(target);
    if (target.node !== undefined) return target.node;
    const node = new Node(REF);
    node.fills = true;
    target.refs.push(node);
    return node;
  }

  #targetOf(place: Place): Target {
    const byScope = this.#targets.get(place.schema) ?? new Map<Scope, Target>();
    this.#targets.set(place.schema, byScope);
    const known = byScope.get(place.scope);
    if (known !== undefined) return known;
    const target = newTarget(this.#descent, place.path);
    byScope.set(place.scope, target);
    const most = this.limits.refDepth;
    if (this.#nesting++ > most) throw tooMuch("SCHEMA_TOO_DEEP", most, "references in a chain", place.path);
    const outer = this.#owner;
    this.#owner = target;
    try {
      const node = this.inPlace(place);
      target.node = node;
      for (const ref of target.refs) ref.a = node;
    } finally {
      this.#owner = outer;
      this.#nesting--;
      // Later compiling, to explain an error, may run out of stack: nothing half made stays behind.
      if (target.node === undefined) byScope.delete(place.scope);
    }
    return target;
  }
}

/** A cycle of references that stays at the same value would never end. */
function refuseCycles(targets: readonly Target[]): void {
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
  targets.forEach(visit);
}
