import { findDialect, SUBSCHEMAS, type Dialect } from "./dialect.ts";
import { isCompound, isObject } from "./equal.ts";
import type { Limits } from "./limits.ts";
import { Refusal } from "./refusal.ts";
import { snapshot } from "./snapshot.ts";
import type { JsonObject } from "./types.ts";
import { escapeToken, resolveUri, splitFragment, unescapeToken } from "./uri.ts";

/** One schema resource (2020-12, section 4.3.5): a document, or a subschema with its own `$id`. */
export interface Resource {
  readonly uri: string;
  readonly root: unknown;
  /** Where the resource is in the document that it was read from; for error paths. */
  readonly path: string;
  readonly dialect: Dialect;
  readonly anchors: Map<string, Anchored>;
  readonly dynamicAnchors: Map<string, Anchored>;
}

export interface Anchored {
  readonly schema: unknown;
  readonly path: string;
}

export interface Located {
  readonly schema: unknown;
  readonly resource: Resource;
  readonly path: string;
}

/** The `$id` of a schema when it begins a resource of its own. */
function ownId(schema: JsonObject, dialect: Dialect): string | undefined {
  const id = schema["$id"];
  if (typeof id !== "string" || id.startsWith("#")) return undefined;
  // Draft 7 ignores everything beside $ref.
  return dialect.year === 7 && schema["$ref"] !== undefined ? undefined : splitFragment(id)[0];
}

/** The documents of one validator: copied, counted, and found by URI, anchor or pointer. */
export class Resources {
  readonly #limits: Limits;
  readonly #given: ReadonlyMap<string, unknown>;
  readonly #byUri = new Map<string, Resource>();
  readonly #byRoot = new Map<unknown, Resource>();
  #givenLoaded = false;
  /** True when some document has `default`. */
  defaults = false;
  /** True when some document has `writeOnly` or the format `password`. */
  secrets = false;

  constructor(limits: Limits, given: ReadonlyMap<string, unknown>) {
    this.#limits = limits;
    this.#given = given;
  }

  /** Copies a document, within the limits, and makes it a resource. */
  add(source: unknown, retrievalUri: string, fallback: Dialect): Resource {
    const [root, hasIds] = this.#copy(source, retrievalUri);
    let uri = retrievalUri;
    let dialect = fallback;
    if (isObject(root)) {
      dialect = this.#dialect(root, fallback, uri);
      const id = ownId(root, dialect);
      if (id !== undefined) uri = resolveUri(uri, id);
    }
    const resource = this.#register(uri, root, "", dialect);
    if (hasIds) this.#scan(root, resource, "");
    return resource;
  }

  #register(uri: string, root: unknown, path: string, dialect: Dialect): Resource {
    const resource: Resource = { uri, root, path, dialect, anchors: new Map(), dynamicAnchors: new Map() };
    if (!this.#byUri.has(uri)) this.#byUri.set(uri, resource);
    this.#byRoot.set(root, resource);
    return resource;
  }

  #dialect(schema: JsonObject, fallback: Dialect, uri: string): Dialect {
    const named = schema["$schema"];
    if (typeof named !== "string") return fallback;
    const dialect = findDialect(named, (meta) =>
      this.#given.has(meta) ? this.#copy(this.#given.get(meta), meta)[0] : undefined,
    );
    if (dialect === undefined) {
      throw new Refusal(
        "DIALECT_UNKNOWN",
        `The dialect ${named.slice(0, 100)} is not known.`,
        `${uri}#/$schema`.replace(/^#/, ""),
        "Use https://json-schema.org/draft/2020-12/schema or http://json-schema.org/draft-07/schema#, or pass the meta-schema in resources.",
      );
    }
    return dialect;
  }

  /** One copy of everything, so that no later read can differ from what was counted and checked here. */
  #copy(source: unknown, uri: string): [root: unknown, hasIds: boolean] {
    const { schemaNodes, schemaDepth } = this.#limits;
    let hasIds = false;
    const copied = snapshot(source, { valueDepth: schemaDepth, valueNodes: schemaNodes }, (key, member) => {
      if (key === "$id" || key === "$anchor" || key === "$dynamicAnchor") hasIds = true;
      else if (key === "default") this.defaults = true;
      else if (key === "writeOnly" || member === "password") this.secrets = true;
    });
    if (copied.ok) return [copied.value, hasIds];
    const { path, limit, expected, received, hint } = copied.reason;
    const code = limit === undefined ? "SCHEMA_NOT_JSON" : limit === "depth" ? "SCHEMA_TOO_DEEP" : "SCHEMA_TOO_LARGE";
    throw new Refusal(
      code,
      `The schema must be ${expected} here, not ${received}.`,
      uri + (uri && path && "#") + path,
      hint,
    );
  }

  /** Registers embedded resources and anchors, at the places where subschemas are and nowhere else. */
  #scan(schema: unknown, parent: Resource, path: string): void {
    if (!isObject(schema)) return;
    let resource = parent;
    if (schema !== parent.root) {
      const dialect = this.#dialect(schema, parent.dialect, parent.uri);
      const id = ownId(schema, dialect);
      if (id !== undefined) resource = this.#register(resolveUri(parent.uri, id), schema, path, dialect);
    }
    const { $anchor, $dynamicAnchor, $id } = schema;
    if (resource.dialect.year === 7) {
      if (typeof $id === "string" && $id.startsWith("#") && schema["$ref"] === undefined)
        resource.anchors.set($id.slice(1), { schema, path });
    } else {
      if (typeof $anchor === "string") resource.anchors.set($anchor, { schema, path });
      if (typeof $dynamicAnchor === "string") resource.dynamicAnchors.set($dynamicAnchor, { schema, path });
    }
    for (const key in schema) {
      const kind = SUBSCHEMAS.get(key);
      const value = schema[key];
      if (kind === undefined || !isCompound(value)) continue;
      if (kind === "schema" && !Array.isArray(value)) this.#scan(value, resource, `${path}/${key}`);
      else
        for (const name of Object.keys(value)) this.#scan(value[name], resource, `${path}/${key}/${escapeToken(name)}`);
    }
  }

  /** The resource that a schema begins, or the one that it is in. */
  enclosing(schema: unknown, current: Resource): Resource {
    // With one resource there is no question, and no object has to be hashed.
    return this.#byRoot.size === 1 ? current : (this.#byRoot.get(schema) ?? current);
  }

  #find(uri: string, dialect: Dialect): Resource | undefined {
    const known = this.#byUri.get(uri);
    if (known !== undefined) return known;
    for (const name of [uri, `${uri}#`]) {
      if (this.#given.has(name)) {
        const resource = this.add(this.#given.get(name), uri, dialect);
        // The document may call itself otherwise; it answers to both names.
        this.#byUri.set(uri, resource);
        return resource;
      }
    }
    if (this.#givenLoaded) return undefined;
    // Nobody is called that: perhaps a resource embedded in one of the documents is.
    this.#givenLoaded = true;
    for (const [name, document] of this.#given) {
      const bare = resolveUri("", splitFragment(name)[0]);
      if (!this.#byUri.has(bare)) this.add(document, bare, dialect);
    }
    return this.#byUri.get(uri);
  }

  /** What a reference leads to; `dynamicAnchor` is the name when a `$dynamicRef` may lead further out. */
  resolve(reference: string, from: Resource, at: string): Located & { readonly dynamicAnchor: string | undefined } {
    const [relative, fragment] = splitFragment(reference);
    const resource = relative === "" ? from : this.#find(resolveUri(from.uri, relative), from.dialect);
    const fail = (hint: string): Refusal =>
      new Refusal(
        "REF_UNRESOLVED",
        `The reference ${JSON.stringify(reference.slice(0, 200))} leads nowhere.`,
        at,
        hint,
      );
    if (resource === undefined) throw fail("Pass the document in resources; nothing is fetched.");
    if (fragment === "") return { schema: resource.root, resource, path: resource.path, dynamicAnchor: undefined };
    if (!fragment.startsWith("/")) {
      const dynamic = resource.dynamicAnchors.get(fragment);
      const anchored = resource.anchors.get(fragment) ?? dynamic;
      if (anchored === undefined) throw fail("No subschema of that document has this anchor.");
      return {
        ...anchored,
        resource: this.enclosing(anchored.schema, resource),
        dynamicAnchor: dynamic === undefined ? undefined : fragment,
      };
    }
    let at2: Resource = resource;
    let schema: unknown = resource.root;
    for (const token of fragment.slice(1).split("/")) {
      const key = unescapeToken(token);
      if (!isCompound(schema) || !Object.hasOwn(schema, key)) throw fail("There is nothing at this pointer.");
      schema = schema[key];
      at2 = this.enclosing(schema, at2);
    }
    return { schema, resource: at2, path: resource.path + fragment, dynamicAnchor: undefined };
  }
}
