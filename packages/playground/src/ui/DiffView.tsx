import "./line-diff.css";
import { visible } from "@keyhole/kernel";
import { type ReactNode, useMemo } from "react";
import { lineDiff, withContext } from "./line-diff.ts";

interface DiffViewProps {
  readonly before: string;
  readonly after: string;
  readonly label: string;
}

const signs = { same: " ", added: "+", removed: "−" } as const;
const words = { same: "", added: "added: ", removed: "removed: " } as const;

/** Rows that are drawn; a person reads no more, and the page stays quick. */
const mostLines = 2_000;

/** The changes between two texts, with two lines around each change. */
export function DiffView({ before, after, label }: DiffViewProps): ReactNode {
  const all = useMemo(() => withContext(lineDiff(before, after)), [before, after]);
  return (
    // It scrolls, so that the keyboard must reach it.
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <section className="box wrap mono-s surface line-diff" tabIndex={0} aria-label={visible(label)}>
      {all.slice(0, mostLines).map((line, index) =>
        line === undefined ? (
          <div key={index} className="line-diff-gap" aria-hidden="true">
            ⋯
          </div>
        ) : (
          <div key={index} data-kind={line.kind}>
            <span aria-hidden="true">{signs[line.kind]} </span>
            <span className="visually-hidden">{words[line.kind]}</span>
            {visible(line.text)}
          </div>
        ),
      )}
      {all.length > mostLines && (
        <p className="cut">{(all.length - mostLines).toLocaleString("en")} more lines are not shown.</p>
      )}
    </section>
  );
}
