import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from "@keyhole/kernel";

/** The fault of a template, with its place. */
export interface TemplateFault {
  readonly path: string;
  readonly message: string;
  readonly hint?: string;
}

export type Checked<Value> = ({ readonly ok: true } & Value) | ({ readonly ok: false } & TemplateFault);

export function fault(path: string, message: string, hint = ""): { readonly ok: false } & TemplateFault {
  return { ok: false, path, message, hint };
}

/** The prefix of variables that stand for secrets. */
const secretPrefix = "secret.";

export function secretOf(name: string): string | undefined {
  return name.startsWith(secretPrefix) ? name.slice(secretPrefix.length) : undefined;
}

export function secretFault(name: string): string | undefined {
  return /^[A-Za-z0-9_-]{1,64}$/.test(name)
    ? undefined
    : "the name of a secret has 1 to 64 letters, digits, `_` or `-`";
}

/** The properties of a tool's input, as its schema names them. */
export function propertiesOf({ properties = {} }: JsonObject): JsonObject {
  return isJsonObject(properties) ? properties : {};
}

/** The schema of a property that is always there. */
export function isAlwaysThere({ required = [], ...schema }: JsonObject, name: string): boolean {
  const property = propertiesOf(schema)[name];
  const isRequired = isJsonArray(required) && required.includes(name);
  return isRequired || (isJsonObject(property) && Object.hasOwn(property, "default"));
}

/** A value as a URL, a header or a form has it. `undefined`: it is absent. `false`: it has no such text. */
export function scalarText(value: JsonValue | undefined): string | undefined | false {
  if (value === undefined || value === null) return undefined;
  if (typeof value === "string") return value.isWellFormed() ? value : false;
  return typeof value === "object" ? false : String(value);
}
