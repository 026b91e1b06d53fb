import { useState } from "react";
import { useNow } from "../ui/time.ts";

/** Milliseconds until then, told each second. */
export function useLeftMs(expiresAt: string): number {
  const [begun] = useState(Date.now);
  return Date.parse(expiresAt) - useNow(begun, 1_000);
}

export function clockText(ms: number): string {
  const seconds = Math.ceil(ms / 1_000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}
