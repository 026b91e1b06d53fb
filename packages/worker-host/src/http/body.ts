import {
  canonicalJson,
  isJsonArray,
  isJsonObject,
  type HttpBody,
  type JsonObject,
  type JsonValue,
} from "@keyhole/kernel";
import { filledIn, referencesIn } from "@keyhole/kernel/references";
import { type Checked, fault, propertiesOf, scalarText, secretFault } from "./place.ts";

/**
 * The body of a request, and the media type that it has unless a header says more. Members are sent in their canonical order: the package's digest does not cover
 * another one.
 */
export interface BodyTemplate {
  readonly mediaType: string;
  readonly secrets: readonly string[];
  /** `undefined`: the values of the body are absent, and the request has none. */
  readonly expand: (
    sources: ReadonlyMap<string, JsonValue>,
  ) => { readonly ok: true; readonly text: string | undefined } | { readonly ok: false; readonly message: string };
}

type Expanded = ReturnType<BodyTemplate["expand"]>;

export function compileBody(body: HttpBody, input: JsonObject): Checked<{ readonly body: BodyTemplate }> {
  const [kind = "", template = null] = Object.entries(body)[0] ?? [];
  const at = `/http/body/${kind}`;
  const used = usedBy(template, at, ["input", "secret"]);
  if (!used.ok) return used;
  const wrong = used.references.map(({ source, pointer, path }) => referenceFault(source, pointer, path, input));
  const first = wrong.find((each) => each !== undefined);
  if (first) return first;
  const secrets = used.references.flatMap(({ source, pointer: [name = ""] }) => (source === "secret" ? [name] : []));
  const fill = (sources: ReadonlyMap<string, JsonValue>): JsonValue | undefined => filledIn(template, sources);
  if ("json" in body)
    return ready("application/json", secrets, (value) => ({ ok: true, text: canonicalJson(value) }), fill);
  if ("form" in body) return ready("application/x-www-form-urlencoded", secrets, formOf, fill);
  return ready("text/plain;charset=UTF-8", secrets, textOf, fill);
}

function ready(
  mediaType: string,
  secrets: readonly string[],
  write: (value: JsonValue) => Expanded,
  fill: (sources: ReadonlyMap<string, JsonValue>) => JsonValue | undefined,
): Checked<{ readonly body: BodyTemplate }> {
  const expand = (sources: ReadonlyMap<string, JsonValue>): Expanded => {
    const value = fill(sources);
    return value === undefined ? { ok: true, text: undefined } : write(value);
  };
  return { ok: true, body: { mediaType, secrets, expand } };
}

export interface UsedReference {
  readonly source: string;
  readonly pointer: readonly string[];
  readonly path: string;
}

/** The references of a template, which are to these sources alone. */
export function usedBy(
  template: JsonValue,
  at: string,
  sources: readonly string[],
): Checked<{ readonly references: readonly UsedReference[] }> {
  const references: UsedReference[] = [];
  for (const reference of referencesIn(template, at)) {
    if ("fault" in reference) return fault(reference.path, `The value is not a reference: ${reference.fault}.`);
    if (!sources.includes(reference.source))
      return fault(
        reference.path,
        `There is no source ${JSON.stringify(reference.source.slice(0, 100))} here.`,
        `The sources are ${sources.join(", ")}.`,
      );
    references.push(reference);
  }
  return { ok: true, references };
}

function referenceFault(
  source: string,
  pointer: readonly string[],
  path: string,
  input: JsonObject,
): ReturnType<typeof fault> | undefined {
  const [first, ...rest] = pointer;
  if (source === "input")
    return first === undefined || Object.hasOwn(propertiesOf(input), first)
      ? undefined
      : fault(path, `The input has no property ${JSON.stringify(first.slice(0, 100))}.`);
  const wrong = first === undefined || rest.length > 0 ? "a secret is named as `secret#/NAME`" : secretFault(first);
  return wrong === undefined ? undefined : fault(path, `The value is not a reference: ${wrong}.`);
}

function formOf(fields: JsonValue): Expanded {
  const form = new URLSearchParams();
  const members = isJsonObject(fields) ? fields : {};
  for (const name of Object.keys(members).toSorted()) {
    const value = members[name];
    for (const each of isJsonArray(value) ? value : [value]) {
      const text = scalarText(each);
      if (text === false)
        return {
          ok: false,
          message: `The field ${JSON.stringify(name.slice(0, 100))} is no text, no number and no list of them.`,
        };
      if (text !== undefined) form.append(name, text);
    }
  }
  return { ok: true, text: form.toString() };
}

function textOf(value: JsonValue): Expanded {
  const text = scalarText(value);
  return text === false ? { ok: false, message: "The body is no text." } : { ok: true, text };
}
