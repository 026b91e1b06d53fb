import type { ReactNode } from "react";

/** Drawn on a 16 × 16 grid with a 1.5 stroke; decoration only, names are in the text or the label beside them. */
const paths = {
  keyhole:
    "M8 1.75a6.25 6.25 0 1 0 0 12.5 6.25 6.25 0 0 0 0-12.5ZM8 5a1.75 1.75 0 0 0-.75 3.33L6.5 11h3l-.75-2.67A1.75 1.75 0 0 0 8 5Z",
  search: "M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9Zm3.25 7.75 3.25 3.25",
  play: "M5 3.25v9.5l7.5-4.75L5 3.25Z",
  stop: "M4.25 4.25h7.5v7.5h-7.5z",
  copy: "M5.75 5.75v-2.5h7v7h-2.5m-7-4.5h7v7h-7z",
  check: "m3 8.5 3.25 3.25L13 5",
  close: "m4 4 8 8m0-8-8 8",
  chevron: "m4 6 4 4 4-4",
  back: "M9.75 3.5 5.25 8l4.5 4.5",
  plus: "M8 3v10M3 8h10",
  sun: "M8 5.25a2.75 2.75 0 1 0 0 5.5 2.75 2.75 0 0 0 0-5.5ZM8 1.5v1m0 11v1m6.5-6.5h-1m-11 0h-1m11.1-4.6-.7.7m-7.8 7.8-.7.7m9.2 0-.7-.7M4.1 4.1l-.7-.7",
  moon: "M13 9.6A5.6 5.6 0 0 1 6.4 3a5.6 5.6 0 1 0 6.6 6.6Z",
  screen: "M2 3h12v8H2zm4 10.5h4",
  shield: "M8 1.75 13 3.5v4c0 3.3-2.1 5.6-5 6.75C5.1 13.1 3 10.8 3 7.5v-4L8 1.75Z",
  sliders: "M2.5 5h5m3 0h3m-11 6h3m3 0h5M9 3.25v3.5M7 9.25v3.5",
  download: "M8 2.5v7m-3-3 3 3 3-3M3 13h10",
  upload: "M8 9.5v-7m-3 3 3-3 3 3M3 13h10",
  call: "M2.5 4.5h6m-6 3.5h4m-4 3.5h6M10.5 8h5m-2-2 2 2-2 2",
  timeline: "M2 4h6M5 8h7M9 12h5",
  decide: "M8 1.8 14.2 8 8 14.2 1.8 8zM8 5v3.6m0 2v.1",
  build: "M5.5 4 2 8l3.5 4M10.5 4 14 8l-3.5 4M9 3 7 13",
  agent: "M2.5 3h11v7.5h-6L4.5 13v-2.5h-2zM5.5 6.7v.1m2.5-.1v.1m2.5-.1v.1",
  send: "M8 13V3.5m-4 4 4-4 4 4",
  replay: "M3 8a5 5 0 1 0 1.6-3.7M3 2.5v2.8h2.8M8 5.5V8l1.8 1.2",
  lock: "M4 7.2h8v6H4zM5.5 7.2V5a2.5 2.5 0 0 1 5 0v2.2",
  drawer: "M2 3h12v10H2zM2 9.5h12",
  alert: "M8 2 14.25 13H1.75L8 2Zm0 4.25v3.25m0 1.75v.01",
} as const;

export type IconName = keyof typeof paths;

export function Icon({ name }: { readonly name: IconName }): ReactNode {
  return (
    <svg className="icon" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <path d={paths[name]} />
    </svg>
  );
}
