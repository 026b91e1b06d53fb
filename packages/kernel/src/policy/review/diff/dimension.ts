import type { JsonValue } from "../../../json/json.ts";
import { canonicalJson } from "../../../json/canonical-json.ts";
import { compilePointer } from "../../../json/pointer.ts";
import { risks } from "../../../tool/manifest.ts";
import { upTo } from "../../../tool/modes.ts";
import type { ArgumentCondition, TimeWindow } from "../../document/policy.ts";
import { areWholeArguments, argumentValues } from "./argument-values.ts";
import { type Draft, inputOf, mildest, withArgument } from "./draft.ts";
import type { Mentioned, NeedPart } from "./need-part.ts";
import { shapeOf } from "./needs.ts";
import { distinct, unmentioned } from "./patterns.ts";
import { areWholeInstants, instantsOf, versionsOf } from "./time-values.ts";

/** Something in which calls differ. */
export interface Dimension {
  /** For people, and of one dimension alone. */
  readonly name: string;
  /** The order of the dimensions: a later one can rest on earlier ones. */
  readonly rank: number;
  /** Of an argument: where it is in the input. */
  readonly pointer?: string;
  /** The draft with each value that is worth a try. */
  readonly drafts: (draft: Draft, mentioned: Mentioned) => readonly Draft[];
  /** Whether values of other dimensions decide on its conditions, beyond the facts that clauses name. */
  readonly isMixed?: true;
  /** Whether those reach every combination of what is mentioned. Default: they do. */
  readonly isWhole?: (mentioned: Mentioned) => boolean;
  /** The value of a draft; `undefined` where it is the usual one. */
  readonly show: (draft: Draft) => JsonValue | undefined;
}

/** The order of dimensions. */
export function inOrder(a: Dimension, b: Dimension): number {
  return a.rank - b.rank || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);
}

type NameMember = "tool" | "caller" | "session" | "category";

function names(name: NameMember, rank: number): Dimension {
  return {
    name,
    rank,
    drafts(draft, { texts }) {
      const usual = mildest[name];
      const other =
        name === "category" ? undefined : usual === undefined || texts.includes(usual) ? unmentioned : usual;
      return [
        ...(other === undefined ? [draft] : [{ ...draft, [name]: other }]),
        ...distinct(texts).map((text) => ({ ...draft, [name]: text })),
      ];
    },
    show: (draft) => draft[name],
  };
}

type SimpleDimension = NameMember | "tier" | "mode" | "risk" | "version" | "request" | "time" | "inputBytes";

export const dimensions: Readonly<Record<SimpleDimension, Dimension>> = {
  tier: {
    name: "tier",
    rank: 0,
    drafts: (draft) => ([0, 1, 2, 3, 4] as const).map((tier) => ({ ...draft, tier })),
    show: ({ tier }) => tier,
  },
  tool: names("tool", 1),
  caller: names("caller", 2),
  mode: {
    name: "mode",
    rank: 3,
    drafts: (draft) => upTo("LOCKDOWN").map((mode) => ({ ...draft, mode })),
    show: ({ mode }) => mode,
  },
  session: names("session", 4),
  category: names("category", 5),
  risk: {
    name: "risk",
    rank: 6,
    drafts: (draft) => [draft, ...risks.map((risk) => ({ ...draft, risk }))],
    show: ({ risk }) => risk,
  },
  version: {
    name: "version",
    rank: 7,
    drafts: (draft, { texts }) => versionsOf(texts).map((version) => ({ ...draft, version })),
    show: ({ version }) => version,
  },
  request: {
    name: "request",
    rank: 8,
    drafts: (draft, { texts }) => [
      draft,
      ...distinct(texts).flatMap((kind) => {
        const need = shapeOf(kind)?.need;
        return need ? [{ ...draft, request: need }] : [];
      }),
    ],
    show: ({ request }) => request?.kind ?? "none",
  },
  time: {
    name: "time",
    rank: 40,
    drafts: (draft, { others }) => instantsOf(windowsOf(others), mildest.nowMs).map((nowMs) => ({ ...draft, nowMs })),
    isWhole: ({ others }) => areWholeInstants(windowsOf(others), mildest.nowMs),
    show: ({ nowMs }) => new Date(nowMs).toISOString(),
  },
  inputBytes: {
    name: "bytes of the input",
    isMixed: true,
    rank: 41,
    drafts: (draft, { numbers }) =>
      distinct([0, ...numbers.flatMap((limit) => [limit, limit + 1])]).map((inputBytes) => ({ ...draft, inputBytes })),
    show: ({ inputBytes }) => inputBytes,
  },
};

// The mentions of a dimension are all of one type.
const windowsOf = (others: readonly unknown[]): readonly TimeWindow[] => others as readonly TimeWindow[];
const conditionsOf = (others: readonly unknown[]): readonly ArgumentCondition[] =>
  others as readonly ArgumentCondition[];

const nothing: Mentioned = { texts: [], numbers: [], others: [] };

/** The members of a request that a part is. */
export function membersOf({ values }: NeedPart): readonly string[] {
  return distinct(values(nothing).flatMap((value) => Object.keys(value)));
}

/** A part of requests of one kind. */
export function needDimension(kind: string, name: string, part: NeedPart): Dimension {
  const { values, isWhole } = part;
  const members = membersOf(part);
  return {
    name: `${name} of ${kind}`,
    rank: 9,
    drafts(draft, mentioned) {
      const { request } = draft;
      if (request?.kind !== kind) return [draft];
      const others = without(request, members);
      return values(mentioned).map((value) => ({ ...draft, request: { ...others, ...value, kind } }));
    },
    ...(isWhole && { isWhole }),
    show({ request }) {
      if (request?.kind !== kind) return undefined;
      const own = new Map<string, unknown>(Object.entries(request));
      const shown = members.filter((member) => own.get(member) !== undefined && own.get(member) !== false);
      // Needs are JSON.
      const parts = shown.filter((member) => member !== "isPublic").map((member) => own.get(member) as JsonValue);
      return parts.length === 1 ? parts[0] : parts;
    },
  };
}

function without<T extends object>(value: T, names_: readonly string[]): T {
  return Object.fromEntries(Object.entries(value).filter(([name]) => !names_.includes(name))) as T;
}

/** Whether a tool has a kind: not at all, as an effect that it lists, as a capability that it declares. */
export function kindDimension(kind: string): Dimension {
  return {
    name: `kind ${kind}`,
    rank: 20,
    drafts: (draft) =>
      draft.request?.kind === kind
        ? [draft]
        : [
            draft,
            ...(["listed", "declared"] as const).map((how) => ({
              ...draft,
              kinds: new Map([...draft.kinds, [kind, how]]),
            })),
          ],
    show: ({ kinds }) => kinds.get(kind) ?? "absent",
  };
}

export function labelDimension(label: string): Dimension {
  return {
    name: `label ${label}`,
    rank: 25,
    drafts: (draft) => [draft, { ...draft, labels: new Set([...draft.labels, label]) }],
    show: ({ labels }) => labels.has(label),
  };
}

/** Values already made. Many drafts ask for those of one list. */
const madeValues = new WeakMap<Mentioned, ReturnType<typeof argumentValues>>();

function valuesOf(mentioned: Mentioned): ReturnType<typeof argumentValues> {
  const values = madeValues.get(mentioned) ?? argumentValues(conditionsOf(mentioned.others), mentioned.numbers);
  madeValues.set(mentioned, values);
  return values;
}

export function argumentDimension(pointer: string): Dimension {
  return {
    name: `argument ${pointer === "" ? "(whole)" : pointer}`,
    rank: 30,
    pointer,
    drafts: (draft, mentioned) => valuesOf(mentioned).map((value) => withArgument(draft, pointer, value)),
    isWhole: ({ others }) => areWholeArguments(conditionsOf(others)),
    show: (draft) => draft.arguments.get(pointer) ?? (draft.arguments.has(pointer) ? null : undefined),
  };
}

/** Earlier counted calls. The argument that a counter adds up is known by now. */
export function countDimension(counter: string, name: string, sum?: string): Dimension {
  const read = sum === undefined ? undefined : compilePointer(sum);
  return {
    name,
    rank: 50,
    isMixed: true,
    drafts(draft, { numbers }) {
      const amount = read ? Number(read(inputOf(draft))) : 1;
      const near = numbers.flatMap((limit) => [limit - 1, limit, limit + 1, limit - amount, limit - amount + 1]);
      return distinct([0, ...near])
        .filter((count) => count >= 0)
        .map((count) => ({ ...draft, counts: new Map([...draft.counts, [counter, count]]) }));
    },
    show: ({ counts }) => counts.get(counter) ?? 0,
  };
}

export const shownValue = (value: JsonValue | undefined): string =>
  value === undefined ? "absent" : canonicalJson(value);
