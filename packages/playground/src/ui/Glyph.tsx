import type { ReactNode } from "react";

interface GlyphProps {
  /** It asks for nothing: there is no wall to draw. */
  readonly isPure: boolean;
  readonly openings: number;
  readonly crossings: number;
  readonly stopped: number;
  /** Said by a screen reader; decoration without it. */
  readonly label?: string;
}

const most = 3;

/** The boundary in 20 by 16: a wall with a gap for each opening. A line through a gap is a crossing; the wall stopped a line that ends there. */
export function Glyph({ isPure, openings, crossings, stopped, label }: GlyphProps): ReactNode {
  const gaps = gapsOf(Math.min(openings, most));
  const crossed = Math.min(crossings, gaps.length);
  return (
    <svg
      className="glyph"
      viewBox="0 0 20 16"
      focusable="false"
      {...(label === undefined ? { "aria-hidden": true } : { role: "img", "aria-label": label })}
    >
      {isPure ? (
        <path strokeWidth="1.4" d="M6.5 4.5h7v7h-7z" />
      ) : (
        <path className="glyph-wall" strokeWidth="2.4" d={wallOf(gaps)} />
      )}
      {gaps.map((y, index) => (
        <path
          key={y}
          {...(index < crossed
            ? { className: "glyph-cross", strokeWidth: 2.2, d: `M3 ${y}H17` }
            : { strokeWidth: 1.2, d: `M13 ${y}h4` })}
        />
      ))}
      {stopped > 0 && <path className="glyph-stop" strokeWidth="2" d="M2.5 8H8M6 5.6v4.8" />}
    </svg>
  );
}

function gapsOf(openings: number): readonly number[] {
  if (openings === 0) return [];
  return openings === 1 ? [8] : openings === 2 ? [5, 11] : [3.5, 8, 12.5];
}

function wallOf(gaps: readonly number[]): string {
  const edges = [0, ...gaps.flatMap((y) => [y - 1.6, y + 1.6]), 16];
  return edges.map((y, index) => `${index % 2 === 0 ? "M10 " : "V"}${y}`).join("");
}

/** Bars that fill: a tier is never a colour. */
export function TierBars({ tier }: { readonly tier: number }): ReactNode {
  return (
    <svg className="tier" viewBox="0 0 18 12" aria-hidden="true" focusable="false">
      {[0, 1, 2, 3].map((bar) => {
        const height = bar < tier ? 4.5 + bar * 2 : 1.9;
        return (
          <rect
            key={bar}
            opacity={bar < tier ? undefined : 0.7}
            x={0.5 + bar * 4.5}
            y={11.5 - height}
            width="3"
            height={height}
            rx=".5"
          />
        );
      })}
    </svg>
  );
}
