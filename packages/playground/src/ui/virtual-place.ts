import type { CSSProperties } from "react";

declare module "react" {
  interface CSSProperties {
    /** Of every row, with its unit. */
    "--row-height"?: string;
  }
}

interface Virtual {
  getTotalSize(): number;
  getVirtualItems(): readonly { readonly start: number }[];
}

/**
 * The height of all rows, and the space before those in sight. A row has no style of its own: Chromium keeps each one that a script set, and compares
 * each new row with all of them. After some screens that takes most of a second.
 */
export function placeOf(virtual: Virtual): CSSProperties {
  return { height: virtual.getTotalSize(), paddingBlockStart: virtual.getVirtualItems()[0]?.start ?? 0 };
}
