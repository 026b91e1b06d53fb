import { type ReactNode, useMemo, useState } from "react";
import { Button } from "./Button.tsx";
import { pageLength } from "./LongText.tsx";
import { visible } from "@keyhole/kernel";

/** A longer text has no colours: tens of thousands of elements would make the page slow. */
const colouredLength = 30_000;

const token = /("(?:[^"\\]|\\.)*")(\s*:)?|\b(?:true|false|null)\b|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

interface JsonProps {
  readonly value: unknown;
  readonly label: string;
}

/** Pretty-printed data. The keyboard scrolls it. */
export function Json({ value, label }: JsonProps): ReactNode {
  const text = useMemo(() => JSON.stringify(value, undefined, 2) ?? "undefined", [value]);
  return <Text text={text} label={label} isColoured={text.length <= colouredLength} />;
}

interface TextProps {
  readonly text: string;
  readonly label: string;
  readonly isColoured?: boolean;
}

export function Text({ text, label, isColoured = false }: TextProps): ReactNode {
  const [end, setEnd] = useState(pageLength);
  const shown = useMemo(() => visible(text.slice(0, end)), [text, end]);
  return (
    <>
      {/* It scrolls, so that the keyboard must reach it. */}
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <section className="box wrap surface code" tabIndex={0} aria-label={visible(label)}>
        {isColoured ? coloured(shown) : shown}
      </section>
      {text.length > end && (
        <p className="cut">
          The first {end.toLocaleString("en")} of {text.length.toLocaleString("en")} characters.{" "}
          <Button onPress={() => setEnd(end + pageLength)}>Show more</Button>
        </p>
      )}
    </>
  );
}

/** JSON with a colour for each kind of word. */
export function coloured(text: string): ReactNode[] {
  const parts: ReactNode[] = [];
  let end = 0;
  for (const match of text.matchAll(token)) {
    const [whole, string, colon] = match;
    parts.push(text.slice(end, match.index));
    const word = string ?? whole;
    const kind = string === undefined ? "literal" : colon === undefined ? "string" : "key";
    parts.push(
      <span key={match.index} className={`json-${kind}`}>
        {word}
      </span>,
    );
    end = match.index + word.length;
  }
  parts.push(text.slice(end));
  return parts;
}
