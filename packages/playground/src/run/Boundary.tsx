import type { ReactNode } from "react";
import { visible } from "@keyhole/kernel";
import type { Opening } from "./openings.ts";

interface BoundaryProps {
  readonly tool: string;
  readonly openings: readonly Opening[];
}

/** Could versus did: the tool in its chamber, the wall with the granted openings, and the requests through them. */
export function Boundary({ tool, openings }: BoundaryProps): ReactNode {
  const used = openings.filter(({ state }) => state === "used").length;
  const granted = openings.filter(({ isGranted, state }) => isGranted || state === "used").length;
  return (
    <figure className="surface boundary">
      <figcaption className="visually-hidden">What {visible(tool)} could do, and what it did</figcaption>
      <div className="boundary-row boundary-head">
        <div className="line shrinks boundary-in">
          <b>{visible(tool)}</b>
        </div>
        <Wall />
        <div className="boundary-out" aria-hidden="true">
          <span>could</span>
          <span>did</span>
        </div>
      </div>
      <ul>
        {openings.map((opening) => (
          <Row key={opening.kind} opening={opening} />
        ))}
        <li className="boundary-row" data-state="closed">
          <div className="line shrinks boundary-in" />
          <Wall state="closed" />
          <div className="boundary-out">
            <div className="could">{openings.length === 0 ? "anything outside" : "everything else"}</div>
            <div className="note">closed</div>
          </div>
        </li>
      </ul>
      <div className="boundary-row boundary-foot">
        <div className="line shrinks boundary-in" />
        <Wall />
        <div className="boundary-out">
          <span>
            {openings.length === 0
              ? "It asks for nothing: a pure tool."
              : `wished ${openings.length}, granted ${granted}, used ${used}`}
          </span>
        </div>
      </div>
    </figure>
  );
}

function Row({ opening }: { readonly opening: Opening }): ReactNode {
  const { kind, scope, state, isWide, isGranted, crossed, failed, stopped } = opening;
  const first = crossed[0] ?? failed[0] ?? stopped[0];
  return (
    <li className="boundary-row" data-state={state}>
      <div className="line shrinks boundary-in">
        <span aria-hidden="true">{first && visible(first.operation)}</span>
      </div>
      <Wall state={state} isWide={isWide} isGranted={isGranted} beam={crossed.length + failed.length > 3 ? 5 : 2.5} />
      <div className="boundary-out">
        <div className="could">
          <code>{visible(kind)}</code>{" "}
          <span className="note">
            {isGranted || state === "used" ? "" : "wishes "}
            {visible(scope)}
          </span>
        </div>
        <div className="note">
          <Did {...opening} />
        </div>
      </div>
    </li>
  );
}

const idleTexts = {
  used: "",
  stopped: "",
  open: "open, not used",
  closed: "not granted: closed",
  unasked: "nothing was decided",
} as const satisfies Record<Opening["state"], string>;

/** Uses in sight; the events have all of them. */
const shownUses = 3;

function Did({ state, crossed, failed, stopped }: Opening): ReactNode {
  // A call can make very many requests.
  const some = (all: Opening["crossed"], note: string, look: string) =>
    all.slice(0, shownUses).map((use) => ({ use, note, look }));
  const uses = [
    ...some(crossed, "", "cross"),
    ...some(failed, " failed outside", "work"),
    ...some(stopped, " stopped at the wall", "stop"),
  ].slice(0, shownUses);
  const more = crossed.length + failed.length + stopped.length - uses.length;
  if (uses.length === 0) return idleTexts[state];
  return (
    <>
      {uses.map(({ use, note, look }) => (
        <span key={use.index} className="did-use" data-look={look}>
          <b>{visible(`${use.operation} ${use.target}`.trim())}</b>
          {note}
        </span>
      ))}
      {more > 0 && <span className="did-use">and {more.toLocaleString("en")} more</span>}
    </>
  );
}

interface WallProps {
  readonly state?: Opening["state"];
  readonly isWide?: boolean;
  readonly isGranted?: boolean;
  readonly beam?: number;
}

/** Height of the gap: how far the grant reaches. Thickness of the beam: how much went through. */
function Wall({ state, isWide = false, isGranted = false, beam = 2.5 }: WallProps): ReactNode {
  const half = isWide ? 9 : 5;
  const isOpen = state === "used" || state === "open" || (state === "stopped" && isGranted);
  return (
    <svg className="wall" aria-hidden="true" focusable="false">
      <svg y="50%" overflow="visible">
        <rect className="wall-out" x="32" y="-300" width="26" height="600" />
        {isOpen ? (
          <>
            <rect className="wall-stone" x="24" y="-300" width="8" height={300 - half} />
            <rect className="wall-stone" x="24" y={half} width="8" height="300" />
            <path className="wall-jamb" strokeWidth="2.5" d={`M21-${half}h14M21 ${half}h14`} />
            <path className="wall-out" d={`M24-${half}h9v${2 * half}h-9z`} />
          </>
        ) : (
          <rect className="wall-stone" x="24" y="-300" width="8" height="600" />
        )}
        {state === "closed" && (
          <path className="wall-plug" strokeWidth="1.2" strokeDasharray="2.5 2" d="M21-7h14v14h-14z" />
        )}
        {state === "open" && <path className="wall-idle" strokeWidth="1.2" strokeDasharray="2 3" d="M2 0H56" />}
        {state === "used" && (
          <>
            <path className="wall-glow" strokeWidth="11" opacity="0.22" d="M0 0H56" />
            <path className="wall-beam" strokeWidth={beam} d="M0 0H50" />
            <path className="wall-arrow" d="m48-5 8 5-8 5z" />
          </>
        )}
        {state === "stopped" && (
          <path className="wall-hit" strokeWidth="2.2" strokeLinecap="round" d="M0 0H18M14-5l8 10m0-10-8 10" />
        )}
      </svg>
    </svg>
  );
}
