import { visible } from "@keyhole/kernel";
import { type ReactNode, useMemo } from "react";
import { coloured } from "../../ui/Json.tsx";
import { VirtualLines } from "../../ui/VirtualLines.tsx";
import { lineOf, lineStarts } from "./lines.ts";

/** Text of any length, line by line. */
export function TextView({ text, isJson = false }: { readonly text: string; readonly isJson?: boolean }): ReactNode {
  const starts = useMemo(() => lineStarts(text), [text]);
  if (text === "") return <p className="hint">The text is empty.</p>;
  return (
    <VirtualLines label="Lines" className="result-text" count={starts.length} rowHeight={18}>
      {(index) => {
        const { text: line, cut } = lineOf(text, starts, index);
        return (
          <span className="text-line" data-number={index + 1}>
            {isJson ? coloured(visible(line)) : visible(line)}
            {cut > 0 && <span className="cut"> … {cut.toLocaleString("en")} more characters in this line</span>}
          </span>
        );
      }}
    </VirtualLines>
  );
}
