import { type JsonValue, visible } from "@keyhole/kernel";
import type { ReactNode } from "react";
import { isObject } from "../form/resolve.ts";
import { beginningOf, LongText } from "../ui/LongText.tsx";

/** On a small screen, several such values fit. */
const shown = { length: 200, lines: 4 } as const;

interface Argument {
  readonly name: string;
  /** As JSON. */
  readonly text: string;
}

/** In the order in which they are hashed. An input that is no object is one argument. */
export function argumentsOf(input: JsonValue): readonly Argument[] {
  const entries = isObject(input) ? Object.entries(input) : [["The input", input] as const];
  return entries.map(([name, value]) => ({ name, text: JSON.stringify(value, undefined, 2) }));
}

/** The names of the arguments whose beginning alone is in sight at first. */
export function longOnes(all: readonly Argument[]): readonly string[] {
  return all.filter(({ text }) => beginningOf(text, shown.length, shown.lines) < text.length).map(({ name }) => name);
}

/** One row for each argument: a long value cannot push another argument out of sight. */
export function Arguments({ all }: { readonly all: readonly Argument[] }): ReactNode {
  const long = longOnes(all);
  return (
    <section className="arguments" aria-label="Exact arguments">
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
      <dl className="argument-list">
        {all.map(({ name, text }) => (
          <div className="argument" key={name}>
            <dt>
              <LongText text={name} what="the name" length={200} lines={2} />
            </dt>
            <dd>
              <LongText text={text} what={name} length={shown.length} lines={shown.lines} />
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

function shortList(names: readonly string[]): string {
  const some = names.slice(0, 5).map((name) => name.slice(0, 60));
  return names.length > some.length ? `${some.join(", ")} and ${names.length - some.length} more` : some.join(", ");
}
