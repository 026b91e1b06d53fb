import type { ReactNode } from "react";
import { VirtualLines } from "../../ui/VirtualLines.tsx";

const bytesPerLine = 16;

/** Bytes of any number, sixteen in a line. */
export function HexView({ bytes }: { readonly bytes: Uint8Array }): ReactNode {
  return (
    <VirtualLines
      label="Bytes"
      className="result-text result-hex"
      count={Math.max(1, Math.ceil(bytes.length / bytesPerLine))}
      rowHeight={18}
    >
      {(index) => hexLine(bytes, index * bytesPerLine)}
    </VirtualLines>
  );
}

export function hexLine(bytes: Uint8Array, start: number): string {
  const row = [...bytes.subarray(start, start + bytesPerLine)];
  const hex = row.map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
  const text = row.map((byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : ".")).join("");
  return `${start.toString(16).padStart(6, "0")}  ${hex.padEnd(bytesPerLine * 3 - 1)}  ${text}`;
}
