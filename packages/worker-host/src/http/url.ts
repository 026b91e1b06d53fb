import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, parseUrl, urlPlace } from "@keyhole/kernel";
import { type Checked, fault, isAlwaysThere, propertiesOf, scalarText, secretFault, secretOf } from "./place.ts";
import { type Expression, expandTemplate, parseTemplate, type TemplatePart, type Variable } from "./uri-template.ts";

/** As the broker for the network allows. */
const urlLength = 8_192;
/** Hosts that the enums of a template may make. */
const mostHosts = 100;
/** Decodings of decodings that servers make. */
const mostDecodings = 8;

/** A URL template whose hosts are known, and whose values cannot change what its literal text says. */
export interface UrlTemplate {
  readonly protocol: "http:" | "https:";
  readonly hosts: readonly string[];
  readonly port: number;
  /** The literal beginning of each path, on whole segments. `/` where it begins with a variable. */
  readonly pathPrefix: string;
  /** Names of secrets in the query. */
  readonly secrets: readonly string[];
  /** The URL of one input. A text says why there is none. */
  readonly expand: (input: JsonObject, secret: (name: string) => string) => URL | string;
}

interface Sections {
  readonly authority: TemplatePart[];
  readonly path: TemplatePart[];
  readonly query: TemplatePart[];
}

type Section = keyof Sections;

/** The characters of literal text. Other characters of a URL are written as %XX. */
const literals = {
  authority: /^[A-Za-z0-9.:[\]-]*$/,
  path: /^(?:[A-Za-z0-9._~!$&'()*+,;=:@/-]|%[0-9A-Fa-f]{2})*$/,
  query: /^(?:[A-Za-z0-9._~!$&()*+,;=:@/?-]|%[0-9A-Fa-f]{2})*$/,
} satisfies Record<Section, RegExp>;

const operatorsIn = {
  authority: [""],
  path: ["", "+", ".", "/", ";"],
  query: ["", "?", "&"],
} satisfies Record<Section, readonly Expression["operator"][]>;

export function compileUrl(text: string, input: JsonObject): Checked<{ readonly url: UrlTemplate }> {
  const at = "/http/url";
  const [, protocol, rest = ""] = /^(https?:)\/\/(.*)$/s.exec(text) ?? [];
  if (protocol !== "http:" && protocol !== "https:")
    return fault(at, "The URL template begins with neither https:// nor http://.", "The scheme is literal text.");
  const parsed = parseTemplate(rest);
  if (!parsed.ok) return fault(at, `The URL template is invalid: ${parsed.message}.`);
  const sections = sectionsOf(parsed.parts);
  if (typeof sections === "string") return fault(at, sections);
  const variableFault = faultOfVariables(sections, input);
  if (variableFault !== undefined) return fault(at, variableFault);
  const places = placesOf(protocol, sections.authority, input);
  if (typeof places === "string") return fault(at, places, "Write the host, or give its variable an enum.");
  const [first] = [...places.values()];
  if (!first) return fault(at, "The URL template has no host.");
  const url: UrlTemplate = {
    protocol,
    hosts: [...places.values()].map(({ host }) => host),
    port: first.port,
    pathPrefix: prefixOf(sections.path),
    secrets: namesIn(sections.query).flatMap((name) => secretOf(name) ?? []),
    expand: (values, secret) => expandUrl(protocol, sections, places, (name) => variableOf(values, name, secret)),
  };
  // A literal that no URL has, such as a step up, shows with any value.
  const [host = ""] = places.keys();
  const sample = expandUrl(protocol, { ...sections, authority: [host] }, places, () => "x");
  return typeof sample === "string" ? fault(at, `The URL template makes no URL: ${sample}`) : { ok: true, url };
}

/** Each part where its place in a URL is. */
function sectionsOf(parts: readonly TemplatePart[]): Sections | string {
  const sections: Sections = { authority: [], path: [], query: [] };
  let section: Section = "authority";
  for (const part of parts) {
    if (typeof part === "string") {
      let rest = part;
      while (rest !== "") {
        const end: number = section === "query" ? -1 : rest.search(section === "authority" ? /[/?#]/ : /[?#]/);
        const own = end < 0 ? rest : rest.slice(0, end);
        if (!literals[section].test(own))
          return `The text ${JSON.stringify(own.slice(0, 100))} cannot stand there as it is.`;
        if (own !== "") sections[section].push(own);
        rest = rest.slice(own.length);
        if (rest.startsWith("#")) return "No request sends a fragment.";
        if (rest.startsWith("?") && section !== "query") section = "query";
        else if (rest.startsWith("/") && section === "authority") section = "path";
      }
      continue;
    }
    const { operator } = part;
    if (operator === "?" && section !== "query") section = "query";
    else if (operator === "/" && section === "authority") section = "path";
    else if (operator === "?") return "The query has begun before {?…}; write {&…}.";
    if (!operatorsIn[section].some((each) => each === operator))
      return `The operator ${operator} could change the ${section} of the URL.`;
    sections[section].push(part);
  }
  return sections;
}

function namesIn(parts: readonly TemplatePart[]): readonly string[] {
  return parts.flatMap((part) => (typeof part === "string" ? [] : part.names));
}

function faultOfVariables({ authority, path, query }: Sections, input: JsonObject): string | undefined {
  const properties = propertiesOf(input);
  for (const name of namesIn([...authority, ...path, ...query])) {
    const secret = secretOf(name);
    if (secret === undefined && !Object.hasOwn(properties, name)) return `The input has no property \`${name}\`.`;
    if (secret !== undefined && !query.some((part) => typeof part !== "string" && isPlain(part, name)))
      return `A secret stands in a query as NAME={${name}}, in a header or in a body, and this one does not.`;
    const wrong = secret === undefined ? undefined : secretFault(secret);
    if (wrong !== undefined) return `{${name}}: ${wrong}.`;
  }
  for (const part of [...authority, ...path]) {
    if (typeof part === "string" || (part.operator !== "" && part.operator !== "+")) continue;
    const optional = part.names.find((name) => !isAlwaysThere(input, name));
    if (optional !== undefined)
      return `Without \`${optional}\` the URL would lead elsewhere, so the input has to require it.`;
  }
  return undefined;
}

/** Under the name of its own variable, a server would not find a value. */
function isPlain({ operator, names }: Expression, name: string): boolean {
  return operator === "" && names.includes(name);
}

interface Place {
  readonly origin: string;
  readonly host: string;
  readonly port: number;
}

/** Each text that the authority can be, and where it leads. */
function placesOf(
  protocol: string,
  authority: readonly TemplatePart[],
  input: JsonObject,
): ReadonlyMap<string, Place> | string {
  let texts = [""];
  for (const part of authority) {
    const choices = typeof part === "string" ? [part] : hostChoices(part, input);
    if (typeof choices === "string") return choices;
    texts = texts.flatMap((before) => choices.map((each) => before + each));
    if (texts.length > mostHosts) return `The host has more than ${mostHosts} values.`;
  }
  const places = new Map<string, Place>();
  for (const text of texts) {
    const url = parseUrl(`${protocol}//${text}/`);
    if (url?.pathname !== "/" || url.username !== "" || !url.href.startsWith(`${protocol}//${text.toLowerCase()}`))
      return `${JSON.stringify(text.slice(0, 100))} is not a host.`;
    const { host, port } = urlPlace(url);
    places.set(text, { origin: url.origin, host, port });
  }
  return places;
}

function hostChoices({ names }: Expression, input: JsonObject): readonly string[] | string {
  const [name = "", ...others] = names;
  const property = propertiesOf(input)[name];
  const { enum: listed, const: only }: JsonObject = isJsonObject(property) ? property : {};
  const values = only === undefined ? (isJsonArray(listed) ? listed : []) : [only];
  const isHostText = (value: JsonValue): value is string =>
    typeof value === "string" && /^[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?$/.test(value);
  return others.length === 0 && values.length > 0 && values.every(isHostText)
    ? values
    : `The host depends on \`${name}\`, and the schema does not list its values as an enum of host names.`;
}

function prefixOf(path: readonly TemplatePart[]): string {
  const [first = "", second] = path;
  if (typeof first !== "string") return "/";
  const isWhole = second === undefined || (typeof second !== "string" && second.operator === "/");
  const text = isWhole ? first : first.slice(0, first.lastIndexOf("/"));
  return text.replace(/\/$/, "") || "/";
}

function expandUrl(
  protocol: string,
  { authority, path, query }: Sections,
  places: ReadonlyMap<string, Place>,
  valueOf: (name: string) => Variable | false,
): URL | string {
  const values = new Map<string, Variable>();
  for (const name of namesIn([...authority, ...path, ...query])) {
    const value = valueOf(name);
    if (value === false) return `\`${name}\` is no text, no number and no list of them.`;
    values.set(name, value);
  }
  for (const part of path) {
    if (typeof part === "string") continue;
    const wrong = pathValueFault(part, values) ?? slashFault(part, values);
    if (wrong !== undefined) return wrong;
  }
  const expand = (parts: readonly TemplatePart[]): string => expandTemplate(parts, (name) => values.get(name));
  const [host, pathText, queryText] = [expand(authority), expand(path), expand(query)];
  const place = places.get(host);
  if (!place) return "The tool does not declare the host.";
  if (stepsUp(pathText)) return "The path has a segment `.` or `..`, or a server could read one in it.";
  const text = `${protocol}//${host}${pathText}${queryText}`;
  if (text.length > urlLength) return `The URL is longer than ${urlLength} characters.`;
  const url = parseUrl(text);
  // A URL that the parser changed differs from the template.
  const isAsWritten =
    url?.origin === place.origin &&
    url.pathname === (pathText === "" ? "/" : pathText) &&
    `${url.username}${url.password}${url.hash}` === "";
  return isAsWritten ? url : "The values change the form of the URL.";
}

function pathValueFault({ operator, names }: Expression, values: ReadonlyMap<string, Variable>): string | undefined {
  for (const name of names) {
    const value = values.get(name);
    const texts = typeof value === "string" ? [value] : (value ?? []);
    if (texts.length === 0 && (operator === "" || operator === "+"))
      return `\`${name}\` has no text, so the URL would lead elsewhere.`;
    for (const text of texts) {
      if (text === "" && operator !== ";") return `\`${name}\` is empty, so the URL would lead elsewhere.`;
      if (/[\u0000-\u001f\u007f-\u009f]/.test(text)) return `\`${name}\` has control characters.`;
      if (operator === "+" && (/[?#%\\]/.test(text) || text.split("/").includes("")))
        return `\`${name}\` is not a path: segments without \`?\`, \`#\`, \`%\` and \`\\\`, with one slash between them.`;
    }
  }
  return undefined;
}

/** A value with more than one step for a server that decodes it. The operator `+` takes steps, and no encoded ones. */
function slashFault({ operator, names }: Expression, values: ReadonlyMap<string, Variable>): string | undefined {
  if (operator === "+") return undefined;
  const name = names.find((each) => [values.get(each) ?? []].flat().some((text) => hasSlash(text)));
  return name === undefined ? undefined : `\`${name}\` has a slash, and a server could read a step of the path there.`;
}

/** Whether a server that decodes a path before it resolves its dots, however often, leaves the folder that the path is in. */
function stepsUp(path: string): boolean {
  return anyReading(path, (reading) =>
    reading.split(/[/\\]/).some((segment) => /^\s*\.\.?[\s.]*(?:;|$)/.test(segment)),
  );
}

/** Whether a server that decodes a value, however often, finds more than one step in it. */
function hasSlash(value: string): boolean {
  return anyReading(value, (reading) => /[/\\]/.test(reading));
}

/** Of a text, decoded up to so often. Beyond, anything could stand in it. */
function anyReading(text: string, test: (reading: string) => boolean): boolean {
  let reading = text;
  for (let round = 0; round < mostDecodings; round++) {
    // One character at a time: the order of many marks would cost more than linear time, and no mark makes a dot or slash.
    if (test(Array.from(reading, (char) => char.normalize("NFKC")).join(""))) return true;
    const next = reading.replace(/(?:%[0-9A-Fa-f]{2})+/g, decoded);
    if (next === reading) return false;
    reading = next;
  }
  return true;
}

/** Bytes that are no UTF-8 stay signs that no path has. */
function decoded(run: string): string {
  const bytes = run.slice(1).split("%");
  return new TextDecoder("utf-8", { fatal: false, ignoreBOM: true }).decode(
    Uint8Array.from(bytes, (hex) => Number.parseInt(hex, 16)),
  );
}

function variableOf(input: JsonObject, name: string, secret: (name: string) => string): Variable | false {
  const wanted = secretOf(name);
  if (wanted !== undefined) return secret(wanted);
  const value = Object.hasOwn(input, name) ? input[name] : undefined;
  if (!isJsonArray(value)) return scalarText(value);
  const texts = value.map(scalarText);
  return texts.every((each) => typeof each === "string") ? texts : false;
}
