import { type CapabilityRequest, type JsonValue, readUrl } from "@keyhole/kernel";
import { type Refused, refused } from "../../brokers/fault.ts";
import { memberOf } from "./values.ts";

/** A part of a page that its reader asks for. */
export interface Wanted {
  readonly selector: string;
  /** The value of this attribute in place of the text. */
  readonly attribute?: string;
}

/** A request whose form is checked. */
export interface Visit {
  readonly url: URL;
  /** The longest wait for the page to load; what is there then is what is read. */
  readonly waitMs: number;
  readonly width: number;
  readonly height: number;
  /** Characters of the page's text; 0 for none. */
  readonly textLength: number;
  readonly extract: readonly Wanted[];
  readonly screenshot: "none" | "window" | "page";
}

type Read = { readonly ok: true; readonly value: Visit } | Refused;

const extracts = 20;

export function readVisit({ operation, arguments: args, body }: CapabilityRequest): Read {
  if (operation !== "open")
    return invalid(`A browser has no operation ${JSON.stringify(operation.slice(0, 40))}. Use \`open\`.`);
  if (body !== undefined) return invalid("The request has a body.");
  const url = readUrl(args["url"]);
  if (!url.ok) return url;
  const waitMs = wholeOf(args["waitMs"], 10_000, 0, 60_000);
  const width = wholeOf(args["width"], 1_280, 100, 2_560);
  const height = wholeOf(args["height"], 800, 100, 2_560);
  const textLength = wholeOf(args["textLength"], 0, 0, 1_000_000);
  const extract = extractsOf(args["extract"] ?? []);
  const screenshot = args["screenshot"] ?? "none";
  if (waitMs === undefined) return invalid("`waitMs` is not an integer from 0 to 60000.");
  if (width === undefined || height === undefined)
    return invalid("`width` and `height` are not integers from 100 to 2560.");
  if (textLength === undefined) return invalid("`textLength` is not an integer from 0 to 1000000.");
  if (extract === undefined)
    return invalid(`\`extract\` is not a list of at most ${extracts} selectors of at most 1000 characters.`);
  if (screenshot !== "none" && screenshot !== "window" && screenshot !== "page")
    return invalid("`screenshot` is not `none`, `window` or `page`.");
  return { ok: true, value: { url: url.value, waitMs, width, height, textLength, extract, screenshot } };
}

function wholeOf(value: JsonValue | undefined, absent: number, min: number, max: number): number | undefined {
  const number = value ?? absent;
  return typeof number === "number" && Number.isInteger(number) && number >= min && number <= max ? number : undefined;
}

function extractsOf(value: JsonValue): readonly Wanted[] | undefined {
  if (!Array.isArray(value) || value.length > extracts) return undefined;
  const wanted: Wanted[] = [];
  for (const each of value as readonly JsonValue[]) {
    const [selector, attribute] = [memberOf(each, "selector"), memberOf(each, "attribute")];
    if (typeof selector !== "string" || selector.length === 0 || selector.length > 1_000) return undefined;
    if (attribute !== undefined && (typeof attribute !== "string" || !/^[^\s"'>/=\0]{1,100}$/.test(attribute)))
      return undefined;
    wanted.push({ selector, ...(attribute !== undefined && { attribute }) });
  }
  return wanted;
}

function invalid(message: string): Refused {
  return refused("INVALID_REQUEST", message);
}
