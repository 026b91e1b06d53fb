import { type ReactNode, useState } from "react";
import { Button } from "./Button.tsx";
import { CopyButton } from "./CopyButton.tsx";
import { visible } from "@keyhole/kernel";

/** The characters that one press adds: more would make the page slow. */
export const pageLength = 100_000;

interface LongTextProps {
  readonly text: string;
  /** The name of the text, such as "the description". */
  readonly what: string;
  /** Shown at first. */
  readonly length?: number;
  readonly lines?: number;
  /** Stands behind the last character. */
  readonly end?: ReactNode;
}

/** A text whose beginning is in sight, and the rest one press away. Each cut has a note of its size. */
export function LongText({ text, what, length = 400, lines = 6, end: last }: LongTextProps): ReactNode {
  const [end, setEnd] = useState(() => beginningOf(text, length, lines));
  const left = text.length - end;
  return (
    <>
      <span className="wrap pre">{visible(text.slice(0, end))}</span>
      {left === 0 && last}
      {left > 0 && (
        <span className="bar long-text-more">
          <span className="cut">
            … {end.toLocaleString("en")} of {text.length.toLocaleString("en")} characters
          </span>
          <Button onPress={() => setEnd((shown) => unbroken(text, shown + pageLength))}>
            Show {left > pageLength ? "more" : "all"} of {visible(what)}
          </Button>
          <CopyButton text={text} what={what} />
        </span>
      )}
    </>
  );
}

/** Where the beginning of a text ends; its length where all of it is shown. */
export function beginningOf(text: string, length: number, lines: number): number {
  let end = -1;
  for (let line = 0; line < lines; line++) {
    end = text.indexOf("\n", end + 1);
    if (end === -1) return unbroken(text, length);
  }
  return unbroken(text, Math.min(end, length));
}

/** Not between the halves of a character. */
function unbroken(text: string, end: number): number {
  const last = text.charCodeAt(end - 1);
  const isHalf = end < text.length && last >= 0xd800 && last < 0xdc00;
  return Math.min(isHalf ? end + 1 : end, text.length);
}
