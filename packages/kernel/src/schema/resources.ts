import { findDialect, onlyRef, SUBSCHEMAS, type Dialect } from "./dialect.ts";
import { isCompound, isObject } from "./equal.ts";
import type { Limits } from "./limits.ts";
import { Refusal, tooMuch } from "./refusal.ts";
import { resolveUri, splitFragment } from "./uri.ts";
import { escapeToken, unescapeToken } from "../json/pointer.ts";

/** One schema resource (2020-12, section 4.3.5): a document, or a subschema with its own `$id`. */
export interface Resource {
  readonly uri: string;
  readonly root: unknown;
  /** Where the resource is, for error paths: a pointer into the schema itself, or with the URI of another document. */
  readonly path: string;
  readonly dialect: Dialect;
  readonly anchors: Map<string, Anchored>;
  /** The anchors that a `$dynamicRef` finds from an inner resource. */
  readonly dynamic: Map<string, Anchored>;
}

/** A subschema that a reference leads to. */
export interface Located {
  readonly schema: unknown;
  readonly resource: Resource;
  readonly path: string;
}

export interface Anchored extends Located {
  /** The name, where a `$dynamicRef` to it may lead further out. */
  readonly name?: string;
}

/** The documents of one validator: counted, and found by URI, anchor or pointer. They no longer change. */
export class Resources {
  readonly #limits: Limits;
  readonly #given: ReadonlyMap<string, unknown>;
  readonly #byUri = new Map<string, Resource>();
  readonly #byRoot = new Map<unknown, Resource>();
  #isGivenLoaded = false;

  constructor(limits: Limits, given: ReadonlyMap<string, unknown>) {
    this.#limits = limits;
    this.#given = given;
  }

  /** Makes a document a resource. */
  add(root: unknown, retrievalUri: string, fallback: Dialect): Resource {
    const hasIds = this.#hasIds(root, retrievalUri);
    const resource = this.#register(root, retrievalUri, undefined, fallback) as Resource;
    if (hasIds) this.#scan(root, resource, resource.path);
    return resource;
  }

  /** The resource that a schema begins, or the one that it is in. */
  enclosing(schema: unknown, current: Resource): Resource {
    // With one resource there is no choice, and no object needs a hash.
    return this.#byRoot.size === 1 ? current : (this.#byRoot.get(schema) ?? current);
  }

  /** Finds the target of a reference at a path. */
  resolve(reference: string, from: Resource, path: string): Anchored {
    const [relative, fragment] = splitFragment(reference);
    const found = relative === "" ? from : this.#find(resolveUri(from.uri, relative), from.dialect);
    const fail = (hint: string): Refusal =>
      new Refusal(
        "REF_UNRESOLVED",
        `The reference ${JSON.stringify(reference.slice(0, 200))} leads nowhere.`,
        path,
        hint,
      );
    if (found === undefined) throw fail("Pass the document in resources.");
    if (/^[^/]/.test(fragment)) {
      const anchored = found.dynamic.get(fragment) ?? found.anchors.get(fragment);
      if (anchored === undefined) throw fail("It has no such anchor.");
      return anchored;
    }
    let resource = found;
    let schema = found.root;
    for (const token of fragment.split("/").slice(1)) {
      const key = unescapeToken(token);
      if (!isCompound(schema) || !Object.hasOwn(schema, key)) throw fail("Nothing is at this pointer.");
      schema = schema[key];
      resource = this.enclosing(schema, resource);
    }
    return { schema, resource, path: found.path + fragment };
  }

  /** Holds a document to the limits, and looks at the name of each member. */
  #hasIds(root: unknown, uri: string): boolean {
    const { schemaDepth, schemaNodes } = this.#limits;
    let hasIds = false;
    let left = schemaNodes;
    const count = (value: unknown, depth: number): void => {
      if (--left < 0) throw tooMuch("SCHEMA_TOO_LARGE", schemaNodes, "values", uri);
      if (!isCompound(value)) return;
      if (depth === 0) throw tooMuch("SCHEMA_TOO_DEEP", schemaDepth, "levels", uri);
      for (const key of Object.keys(value)) {
        if (key === "$id" || key === "$anchor" || key === "$dynamicAnchor") hasIds = true;
        count(value[key], depth - 1);
      }
    };
    count(root, schemaDepth);
    return hasIds;
  }

  #dialectOf(named: unknown, fallback: Dialect, uri: string): Dialect {
    if (typeof named !== "string") return fallback;
    const dialect = findDialect(named, (meta) => this.#given.get(meta));
    if (dialect !== undefined) return dialect;
    throw new Refusal(
      "DIALECT_UNKNOWN",
      `The dialect ${named.slice(0, 100)} is unknown.`,
      `${uri}#/$schema`.replace(/^#/, ""),
      "Name a known draft, or pass the meta-schema in resources.",
    );
  }

  /** Registers a document, or a subschema with an `$id` of its own; undefined for any other. */
  #register(root: unknown, base: string, path: string | undefined, fallback: Dialect): Resource | undefined {
    const { $schema, $id } = isObject(root) ? root : {};
    const dialect = this.#dialectOf($schema, fallback, base);
    const named = isObject(root) && typeof $id === "string" && !$id.startsWith("#") && !onlyRef(root, dialect);
    if (!named && path !== undefined) return undefined;
    const uri = named ? resolveUri(base, splitFragment($id)[0]) : base;
    // Paths into the schema itself are plain pointers.
    const resource = {
      uri,
      root,
      path: path ?? (this.#byUri.size === 0 ? "" : `${uri}#`),
      dialect,
      anchors: new Map(),
      dynamic: new Map(),
    };
    if (!this.#byUri.has(uri)) this.#byUri.set(uri, resource);
    this.#byRoot.set(root, resource);
    return resource;
  }

  /** Registers embedded resources and anchors, at the places where subschemas are and nowhere else. */
  #scan(schema: unknown, parent: Resource, path: string): void {
    if (!isObject(schema)) return;
    const own = schema === parent.root ? undefined : this.#register(schema, parent.uri, path, parent.dialect);
    const resource = own ?? parent;
    const { $anchor, $dynamicAnchor, $id } = schema;
    const { anchors, dialect, dynamic } = resource;
    const anchored = { schema, resource, path };
    if (dialect.year === 7) {
      if (typeof $id === "string" && $id.startsWith("#") && !onlyRef(schema, dialect))
        anchors.set($id.slice(1), anchored);
    } else {
      if (typeof $anchor === "string") anchors.set($anchor, anchored);
      if (typeof $dynamicAnchor === "string") dynamic.set($dynamicAnchor, { ...anchored, name: $dynamicAnchor });
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
    // No document has that name: perhaps a resource embedded in one of the documents is.
    for (const [name, document] of this.#isGivenLoaded ? [] : this.#given) {
      const bare = resolveUri("", splitFragment(name)[0]);
      if (!this.#byUri.has(bare)) this.add(document, bare, dialect);
    }
    this.#isGivenLoaded = true;
    return this.#byUri.get(uri);
  }
}
