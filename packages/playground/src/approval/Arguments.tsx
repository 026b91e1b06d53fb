import { visible } from "@keyhole/kernel";
import type { ArgumentRow } from "@keyhole/kernel/policy";
import type { ReactNode } from "react";
import { DiffView } from "../ui/DiffView.tsx";
import { beginningOf, LongText } from "../ui/LongText.tsx";
import type { Seen } from "./useSeen.tsx";

/** On a small screen, several such values fit. */
const shown = { length: 200, lines: 4 } as const;

/** The names of the arguments whose beginning alone is in sight at first. */
export function longOnes(all: readonly ArgumentRow[]): readonly string[] {
  return all.filter(({ text }) => beginningOf(text, shown.length, shown.lines) < text.length).map(({ name }) => name);
}

interface ArgumentsProps {
  readonly all: readonly ArgumentRow[];
  /** The arguments of the call that a person allowed last. */
  readonly before?: readonly ArgumentRow[] | undefined;
  readonly seen?: Seen;
}

/** One row for each argument: a long value cannot push another argument out of sight. */
export function Arguments({ all, before, seen }: ArgumentsProps): ReactNode {
  const known = before && new Map(before.map(({ name, text }) => [name, text]));
  const gone = (before ?? []).filter(({ name }) => !all.some((each) => each.name === name));
  const long = longOnes(all);
  return (
    <section className="stack-m" aria-label="Exact arguments">
      <h3>{all.length === 1 ? "The exact argument" : `The ${all.length} exact arguments`}</h3>
      {long.length > 0 && (
        <p className="cut">
          {long.length === 1
            ? "The beginning of one value is shown"
            : `The beginnings of ${long.length} values are shown`}
          : {visible(shortList(long))}. Read the rest before you allow the call.
        </p>
      )}
      {all.length === 0 && <p className="hint">The call has no arguments.</p>}
      <dl className="box argument-list">
        {all.map(({ name, text }) => (
          <div className="sunken argument" key={name}>
            <dt>
              <LongText text={name} what="the name" length={200} lines={2} />
            </dt>
            <dd>
              <LongText text={text} what={name} length={shown.length} lines={shown.lines} end={seen?.end(name)} />
              {known !== undefined && <Change name={name} before={known.get(name)} after={text} />}
            </dd>
          </div>
        ))}
        {gone.map(({ name }) => (
          <div className="sunken argument" key={name}>
            <dt>
              <LongText text={name} what="the name" length={200} lines={2} />
            </dt>
            <dd className="argument-changed">Left out now</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

/** A whole value stands above it, so that no part of the request can hide in a difference. */
function Change({ name, before, after }: ChangeProps): ReactNode {
  if (before === after) return <p className="muted argument-same">As allowed before</p>;
  if (before === undefined) return <p className="argument-changed">New</p>;
  return (
    <details className="argument-changed">
      <summary>Changed</summary>
      <DiffView before={before} after={after} label={`Changes of ${name}`} />
    </details>
  );
}

interface ChangeProps {
  readonly name: string;
  /** JSON; `undefined` where the earlier call had no such argument. */
  readonly before: string | undefined;
  readonly after: string;
}

function shortList(names: readonly string[]): string {
  const some = names.slice(0, 5).map((name) => name.slice(0, 60));
  return names.length > some.length ? `${some.join(", ")} and ${names.length - some.length} more` : some.join(", ");
}
