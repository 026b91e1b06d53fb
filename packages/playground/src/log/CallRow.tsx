import { readVersionedId, visible } from "@keyhole/kernel";
import { memo, type ReactNode } from "react";
import { bytesText, durationText } from "../app/words.ts";
import { type CallHead, type CallState, isOpen } from "../session/call-head.ts";
import { Glyph } from "../ui/Glyph.tsx";
import { shortHash } from "../ui/short-hash.ts";
import { StateMark } from "../ui/StateMark.tsx";

/** In pixels, as the style sheet has it. */
export const callRowHeight = 24;

const columns = [
  ["wall", "Wall"],
  ["state", "End"],
  ["tool", "Tool"],
  ["what", "Input"],
  ["code", "Code"],
  ["own", "Own"],
  ["waited", "Waited"],
  ["bytes", "Bytes"],
  ["hash", "Output hash"],
  ["at", "At"],
] as const;

export const callColumns: ReactNode = columns.map(([name, text]) => (
  <th key={name} scope="col" className={`log-${name}`}>
    {text}
  </th>
));

const stateTexts = {
  running: "running",
  asks: "asks",
  completed: "completed",
  refused: "refused",
  failed: "failed",
  cancelled: "cancelled",
  broken: "no answer",
  left: "left",
} as const satisfies Record<CallState, string>;

/** One call in a line. It is drawn anew for another head alone: others come many times a second. */
export const CallCells = memo(function CallCells({ head }: { readonly head: CallHead }): ReactNode {
  const { id, tool, what, state, code, ownMs, waitedMs, bytes, hash, verdict, startedAt } = head;
  const { openings, crossings, stopped } = head;
  const isEnded = !isOpen(state);
  return (
    <>
      <td className="log-wall">
        <Glyph
          isPure={openings === 0 && state === "completed"}
          openings={openings}
          crossings={crossings}
          stopped={stopped}
          label={wallText(head)}
        />
      </td>
      <td className="log-state" data-state={state}>
        <StateMark state={state} />
        {stateTexts[state]}
      </td>
      <td className="log-tool">
        {/* For a new tab; the row itself takes the press and the keys. */}
        <a href={`#/call/${encodeURIComponent(id)}`} tabIndex={-1}>
          {visible(readVersionedId(tool).name)}
        </a>
      </td>
      <td className="log-what">{visible(what)}</td>
      <td className="log-code">{code}</td>
      <td className="log-own">{isEnded ? durationText(ownMs) : "–"}</td>
      <td className="log-waited">{waitedMs >= 1 ? durationText(waitedMs) : "–"}</td>
      <td className="log-bytes">{bytesText(bytes)}</td>
      <td className="log-hash">
        {hash === null ? "–" : visible(shortHash(hash))}
        {verdict === "broken" && " broken"}
      </td>
      <td className="log-at">{new Date(startedAt).toLocaleTimeString("en", { hour12: false })}</td>
    </>
  );
});

function wallText({ openings, crossings, stopped }: CallHead): string {
  if (openings === 0 && crossings === 0 && stopped === 0) return "no opening";
  return `${openings} open, ${crossings} crossed${stopped > 0 ? `, ${stopped} stopped` : ""}`;
}
