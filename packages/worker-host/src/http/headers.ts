import { pointerOf, checkHeader, type JsonObject } from "@keyhole/kernel";
import { type Checked, fault, propertiesOf, scalarText, secretFault, secretOf } from "./place.ts";

/** A header whose value has `{property}` and `{secret.NAME}` in it. */
export interface HeaderTemplate {
  readonly name: string;
  readonly secrets: readonly string[];
  /** `undefined`: a property is absent, and the header is not sent. */
  readonly expand: (
    input: JsonObject,
    secret: (name: string) => string,
  ) => { readonly ok: true; readonly value: string | undefined } | { readonly ok: false; readonly message: string };
}

export function compileHeaders(
  headers: Readonly<Record<string, string>>,
  input: JsonObject,
): Checked<{ readonly headers: readonly HeaderTemplate[] }> {
  const compiled: HeaderTemplate[] = [];
  for (const [written, text] of Object.entries(headers).toSorted(byName)) {
    const name = written.toLowerCase();
    const at = pointerOf(["http", "headers", written]);
    const wrong =
      checkHeader(name) ?? (compiled.some((each) => each.name === name) ? "it stands there twice" : undefined);
    if (wrong !== undefined)
      return fault(at, `The header ${JSON.stringify(written.slice(0, 100))} is refused: ${wrong}.`);
    const parts = text.split(/(\{[^{}]*\})/);
    const names = parts.filter((_, place) => place % 2 === 1).map((part) => part.slice(1, -1));
    const nameFault = names.map((each) => variableFault(each, input)).find((each) => each !== undefined);
    if (nameFault !== undefined) return fault(at, nameFault);
    if (parts.some((part, place) => place % 2 === 0 && !/^[\t\x20-\x7e]*$/.test(part.replace(/[{}]/g, "\n"))))
      return fault(at, "The text of a header has printable ASCII, and braces around names alone.");
    // A separator of such a text would divide a value.
    const divides = parts.some((part, place) => place % 2 === 0 && /[;,="]/.test(part));
    compiled.push({
      name,
      secrets: names.flatMap((each) => secretOf(each) ?? []),
      expand: (values, secret) => expandHeader(name, parts, divides, values, secret),
    });
  }
  return { ok: true, headers: compiled };
}

/** The package's digest covers no other order. */
function byName([one]: readonly [string, string], [other]: readonly [string, string]): number {
  return one < other ? -1 : 1;
}

function variableFault(name: string, input: JsonObject): string | undefined {
  const secret = secretOf(name);
  if (secret === undefined)
    return Object.hasOwn(propertiesOf(input), name) ? undefined : `The input has no property ${JSON.stringify(name)}.`;
  const wrong = secretFault(secret);
  return wrong === undefined ? undefined : `{${name}}: ${wrong}.`;
}

function expandHeader(
  name: string,
  parts: readonly string[],
  divides: boolean,
  input: JsonObject,
  secret: (name: string) => string,
): ReturnType<HeaderTemplate["expand"]> {
  let value = "";
  for (const [place, part] of parts.entries()) {
    if (place % 2 === 0) {
      value += part;
      continue;
    }
    const variable = part.slice(1, -1);
    const wanted = secretOf(variable);
    const text =
      wanted === undefined ? scalarText(Object.hasOwn(input, variable) ? input[variable] : undefined) : secret(wanted);
    if (text === undefined) return { ok: true, value: undefined };
    if (text === false || !/^[\t\x20-\x7e\x80-\xff]*$/.test(text))
      return { ok: false, message: `\`${variable}\` has characters that the header ${name} cannot carry.` };
    if (divides && wanted === undefined && /[;,"\\]/.test(text))
      return { ok: false, message: `\`${variable}\` has a sign that divides the header ${name}.` };
    value += text;
  }
  return { ok: true, value };
}
