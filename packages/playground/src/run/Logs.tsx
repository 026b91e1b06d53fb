import { type LogEntry, visible } from "@keyhole/kernel";
import { memo, type ReactNode, useMemo, useState } from "react";
import { SearchField } from "../ui/TextField.tsx";
import { VirtualLines } from "../ui/VirtualLines.tsx";

/** A person reads fewer lines without a search. */
const fewLines = 12;
/** The view cuts a longer line, with a note. */
const mostInLine = 4_000;

/** The lines that the tool wrote while it ran. New lines come at the end, so their position is their identity. */
export function Logs({ logs }: { readonly logs: readonly LogEntry[] }): ReactNode {
  const [text, setText] = useState("");
  const shown = useMemo(() => {
    const wanted = text.trim().toLowerCase();
    if (wanted === "") return logs;
    return logs.filter(({ level, message }) => level === wanted || message.toLowerCase().includes(wanted));
  }, [logs, text]);
  if (logs.length === 0) return <p className="hint">The tool wrote no log line.</p>;
  return (
    <div className="stack-m">
      {logs.length > fewLines && (
        <div className="line log-bar">
          <SearchField
            className="line search drawer-find"
            label="Search log lines"
            placeholder="Text or level"
            value={text}
            onChange={setText}
          />
          <span className="muted">
            {shown.length.toLocaleString("en")} of {logs.length.toLocaleString("en")} lines
          </span>
        </div>
      )}
      <VirtualLines label="Log lines of the tool" className="mono-s logs" count={shown.length} rowHeight={20}>
        {(index) => <LogLine entry={shown[index]!} />}
      </VirtualLines>
      {shown.length === 0 && <p className="hint">No line matches.</p>}
    </div>
  );
}

const LogLine = memo(function LogLine({ entry: { level, message } }: { readonly entry: LogEntry }): ReactNode {
  const cut = message.length - mostInLine;
  return (
    <span className="stack-m log-line" data-level={level}>
      <span className="log-level">{level}</span>
      <span className="wrap pre">
        {visible(message.slice(0, mostInLine))}
        {cut > 0 && <span className="cut"> … {cut.toLocaleString("en")} more characters</span>}
      </span>
    </span>
  );
});
