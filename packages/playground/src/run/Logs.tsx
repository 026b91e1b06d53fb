import { type LogEntry, visible } from "@keyhole/kernel";
import type { ReactNode } from "react";

/** Lines come only at the end, so that their position is their identity. */
export function Logs({ logs }: { readonly logs: readonly LogEntry[] }): ReactNode {
  if (logs.length === 0) return <p className="hint">The tool wrote no log line.</p>;
  return (
    <ol className="logs" aria-label="Log lines of the tool">
      {logs.map(({ level, message }, index) => (
        <li key={index} data-level={level}>
          <span className="log-level">{level}</span>
          <span className="log-text">{visible(message)}</span>
        </li>
      ))}
    </ol>
  );
}
