import { type JsonValue, parseUrl } from "@keyhole/kernel";

/** The input and the output of an earlier call, as text. */
export interface EarlierCall {
  readonly tool: string;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly input: JsonValue;
  /** Of the result; empty where there is none. */
  readonly output: string;
}

/** A value of an input that an earlier output has, and no earlier input. */
export interface Origin {
  readonly value: string;
  readonly tool: string;
  readonly startedAt: number;
}

/** Shorter texts stand anywhere. */
const leastLength = 4;
const mostLength = 2_000;
const mostValues = 40;
/** Of one output. */
const mostSearched = 1_000_000;

/** The texts of an input, and the hosts of the addresses among them. */
export function valuesOf(input: JsonValue): readonly string[] {
  const found = new Set<string>();
  const waiting: JsonValue[] = [input];
  while (waiting.length > 0 && found.size < mostValues) {
    const value = waiting.shift()!;
    if (typeof value === "string") {
      if (value.length <= mostLength) found.add(value);
      const host = /^https?:/i.test(value) ? parseUrl(value)?.hostname : undefined;
      if (host !== undefined) found.add(host);
    } else if (typeof value === "object" && value !== null) waiting.push(...Object.values(value).slice(0, mostValues));
  }
  return [...found].filter((value) => value.length >= leastLength).slice(0, mostValues);
}

/** The output of a call as the text for the search. */
export function outputText(data: unknown): string {
  if (data instanceof Uint8Array || data === undefined) return "";
  const text = typeof data === "string" ? JSON.stringify(data.slice(0, mostSearched)) : (JSON.stringify(data) ?? "");
  return text.slice(0, mostSearched);
}

/**
 * A text search, which claims no more: a value can stand in an output by chance, and come from elsewhere in another spelling.
 *
 * @param earlier the latest first
 */
export function originsOf(input: JsonValue, earlier: readonly EarlierCall[]): readonly Origin[] {
  const known = new Set(earlier.flatMap((call) => valuesOf(call.input)));
  return valuesOf(input).flatMap((value) => {
    if (known.has(value)) return [];
    const escaped = JSON.stringify(value).slice(1, -1);
    const source = earlier.find(({ output }) => output.includes(escaped));
    return source === undefined ? [] : [{ value, tool: source.tool, startedAt: source.startedAt }];
  });
}
