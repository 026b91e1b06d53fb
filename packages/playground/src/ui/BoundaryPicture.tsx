import type { ReactNode } from "react";
import "./boundary-picture.css";

const words = [40, 57, 74, 91, 108];
const lengths = [54, 76, 40, 60, 26];

/** The boundary before anything crossed it: the tool in its chamber, the keyhole, and the world. */
export function BoundaryPicture(): ReactNode {
  return (
    <svg className="boundary-picture" viewBox="0 0 320 150" aria-hidden="true" focusable="false">
      <path className="picture-chamber" d="M0 0h150v150H0z" />
      <path className="picture-wall" d="M150 0h8v150h-8z" />
      {words.map((y, at) => (
        <path key={y} className="picture-inside" d={`M24 ${y}h${lengths[at]}`} />
      ))}
      {words.map((y, at) => (
        <path key={y} className="picture-outside" d={`M204 ${y}h${(lengths[at] ?? 0) + 8}`} />
      ))}
      <rect className="picture-wall" x="132" y="38" width="44" height="74" rx="20" />
      <path className="picture-chamber" d="M154 50a12 12 0 0 1 5.4 22.7L163 94h-18l3.6-21.3A12 12 0 0 1 154 50Z" />
    </svg>
  );
}
