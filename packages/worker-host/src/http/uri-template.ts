/*
 * URI templates (RFC 6570) up to level 3, and lists without modifiers. A library would give the expanded text alone; here each part is known, so that a template can
 * be refused before it is ever expanded.
 */

const operators = ["", "+", "#", ".", "/", ";", "?", "&"] as const;
export type Operator = (typeof operators)[number];

export interface Expression {
  readonly operator: Operator;
  readonly names: readonly string[];
}

export type TemplatePart = string | Expression;

/** A value of a variable; `undefined` where it has none. */
export type Variable = string | readonly string[] | undefined;

export type ParsedTemplate =
  | { readonly ok: true; readonly parts: readonly TemplatePart[] }
  | { readonly ok: false; readonly message: string };

const variableName = /^(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2})+(?:\.(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2})+)*$/;

export function parseTemplate(text: string): ParsedTemplate {
  const parts: TemplatePart[] = [];
  for (const [, literal = "", body] of text.matchAll(/([^{}]+)|\{([^{}]*)\}|[{}]/g)) {
    if (literal !== "") {
      parts.push(literal);
      continue;
    }
    if (body === undefined) return { ok: false, message: "a brace has no end, or closes nothing" };
    const expression = readExpression(body);
    if (typeof expression === "string") return { ok: false, message: expression };
    parts.push(expression);
  }
  return { ok: true, parts };
}

function readExpression(body: string): Expression | string {
  const operator = operators.find((each) => each !== "" && body.startsWith(each)) ?? "";
  const names = body.slice(operator.length).split(",");
  for (const name of names) {
    if (/(?:\*|:\d+)$/.test(name)) return `{${body}} has a modifier of level 4, and templates are of level 3`;
    if (!variableName.test(name)) return `{${body}} is not an expression of RFC 6570`;
  }
  return { operator, names };
}

interface Form {
  readonly first: string;
  readonly separator: string;
  /** `undefined`: values stand without their names. */
  readonly ifEmpty?: string;
  readonly allowsReserved?: boolean;
}

/** RFC 6570, appendix A. */
const forms = {
  "": { first: "", separator: "," },
  "+": { first: "", separator: ",", allowsReserved: true },
  "#": { first: "#", separator: ",", allowsReserved: true },
  ".": { first: ".", separator: "." },
  "/": { first: "/", separator: "/" },
  ";": { first: ";", separator: ";", ifEmpty: "" },
  "?": { first: "?", separator: "&", ifEmpty: "=" },
  "&": { first: "&", separator: "&", ifEmpty: "=" },
} satisfies Record<Operator, Form>;

/** @throws URIError for a value with a lone surrogate, which has no encoding */
export function expandTemplate(parts: readonly TemplatePart[], valueOf: (name: string) => Variable): string {
  return parts.map((part) => (typeof part === "string" ? reserved(part) : expanded(part, valueOf))).join("");
}

function expanded({ operator, names }: Expression, valueOf: (name: string) => Variable): string {
  const { first, separator, ifEmpty, allowsReserved }: Form = forms[operator];
  const encode = allowsReserved ? reserved : unreserved;
  const values = names.flatMap((name) => {
    const value = valueOf(name);
    if (value === undefined || (typeof value !== "string" && value.length === 0)) return [];
    const text = typeof value === "string" ? encode(value) : value.map(encode).join(",");
    if (ifEmpty === undefined) return [text];
    return [text === "" ? `${name}${ifEmpty}` : `${name}=${text}`];
  });
  return values.length === 0 ? "" : first + values.join(separator);
}

function unreserved(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** Reserved characters and triplets stay as they are. */
function reserved(text: string): string {
  return text
    .split(/(%[0-9A-Fa-f]{2})/)
    .map((part, at) => (at % 2 === 1 ? part : encodeURI(part).replaceAll("%5B", "[").replaceAll("%5D", "]")))
    .join("");
}
