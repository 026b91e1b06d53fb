/** An error of a form, as react-jsonschema-form shows it. */
export interface RjsfError {
  name?: string;
  /** `.address.street`, `.tags.0`, `['a.b']`. */
  property?: string;
  message?: string;
  params?: unknown;
  schemaPath?: string;
  /** The whole text. */
  stack: string;
}

/** Errors by the place of the form: `__errors` of an object are its own. */
export interface RjsfErrorSchema {
  [member: string]: RjsfErrorSchema | string[] | undefined;
  __errors?: string[];
}

/** The object to which `customValidate` adds errors. */
export interface RjsfHandler {
  [member: string]: unknown;
  __errors: string[];
  addError(message: string): void;
}

export function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function errorSchemaOf(errors: readonly RjsfError[]): RjsfErrorSchema {
  const root = emptySchema();
  for (const { property = "", message = "" } of errors) {
    let at = root;
    for (const token of propertyTokens(property)) at = memberOf(at, token);
    (at.__errors ??= []).push(message);
  }
  return root;
}

/** Without a prototype: a member of a form can have any name. */
function emptySchema(): RjsfErrorSchema {
  return Object.create(null) as RjsfErrorSchema;
}

function memberOf(schema: RjsfErrorSchema, token: string): RjsfErrorSchema {
  // The form has no place for a member of this name.
  if (token === "__errors") return schema;
  const found = schema[token];
  if (found !== undefined && !Array.isArray(found)) return found;
  const made = emptySchema();
  schema[token] = made;
  return made;
}

function propertyTokens(property: string): readonly string[] {
  return [...property.matchAll(/\['([^']*)'\]|\.([^.[]+)/g)].map(([, quoted, plain = ""]) => quoted ?? plain);
}

/** One for each value of the form, so that `errors.address.street.addError("…")` works. */
export function errorHandler(formData: unknown): RjsfHandler {
  const handler = Object.create(null) as RjsfHandler;
  handler.__errors = [];
  handler.addError = (message) => void handler.__errors.push(message);
  const members = typeof formData === "object" && formData !== null ? Object.entries(formData) : [];
  for (const [member, value] of members) if (!Object.hasOwn(handler, member)) handler[member] = errorHandler(value);
  return handler;
}

/** Adds what `customValidate` said. */
export function withHandled(
  errors: readonly RjsfError[],
  handled: RjsfHandler,
): { errors: RjsfError[]; errorSchema: RjsfErrorSchema } {
  const all = [...errors, ...handledErrors(handled, [])];
  return { errors: all, errorSchema: errorSchemaOf(all) };
}

function handledErrors(handler: RjsfHandler, place: readonly string[]): RjsfError[] {
  const property = propertyOf(place);
  const own = handler.__errors.map((message) => ({ property, message, stack: `${property} ${message}`.trimStart() }));
  const below = Object.entries(handler).flatMap(([member, value]) =>
    isPlainObject(value) && "__errors" in value ? handledErrors(value as RjsfHandler, [...place, member]) : [],
  );
  return [...own, ...below];
}

/** A name with a point or a bracket stands in quotes. */
export function propertyOf(place: readonly string[]): string {
  return place.map((token) => (/[.[\]]/.test(token) ? `['${token}']` : `.${token}`)).join("");
}
