import { type ToolSummary, visible } from "@keyhole/kernel";
import { filtered } from "../log/filters.ts";
import type { CallHead } from "../session/call-head.ts";

/** One entry of the search. */
export interface Find {
  /** Unique in the whole list. */
  readonly id: string;
  readonly text: string;
  /** Stands beside the text: a key, or a word that tells two entries of one name apart. */
  readonly hint: string;
  readonly act: () => void;
}

export interface Found {
  readonly name: string;
  readonly finds: readonly Find[];
  /** Of all that match; `finds` has the first ones. */
  readonly count: number;
}

/** Of one group; more words lead to the rest. */
const mostOfGroup = 8;
const textLength = 120;

/** The entries that have each word; entries that begin with the text are first. */
export function groupOf(name: string, all: readonly Find[], text: string): Found {
  const wanted = wordsOf(text);
  const has = ({ text: own, hint }: Find): boolean => {
    const searched = `${own} ${hint}`.toLowerCase();
    return wanted.every((word) => searched.includes(word));
  };
  const begins = ({ text: own }: Find): boolean => own.toLowerCase().startsWith(wanted.join(" "));
  const matching = all.filter(has).toSorted((a, b) => Number(begins(b)) - Number(begins(a)));
  return { name, finds: matching.slice(0, mostOfGroup), count: matching.length };
}

/** The calls that the log of calls finds for the text: by tool, input, state, code, ids and hash. The latest are first. */
export function callsOf(heads: readonly CallHead[], text: string, open: (id: string) => void): Found {
  const matching = filtered(heads, "all", text);
  const finds = matching.slice(0, mostOfGroup).map(({ id, tool, what, state, hash }) => ({
    id: `call ${id}`,
    text: visible(`${tool.slice(0, textLength)} ${what.slice(0, textLength)}`),
    hint: visible(hash === null ? state : `${state} ${hash.slice(-8)}`),
    act: () => open(id),
  }));
  return { name: "Calls", finds, count: matching.length };
}

export function toolsOf(tools: readonly ToolSummary[], open: (id: string) => void): readonly Find[] {
  return tools.map(({ id, manifest: { name, version, title, effects } }) => ({
    id: `tool ${id}`,
    text: visible(`${name.slice(0, textLength)} ${version.slice(0, textLength)}`),
    hint: visible([title ?? "", ...effects].join(" ").trim().slice(0, textLength)),
    act: () => open(id),
  }));
}

function wordsOf(text: string): readonly string[] {
  return text.toLowerCase().split(/\s+/).filter(Boolean);
}
