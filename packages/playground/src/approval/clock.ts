import { useEffect, useState } from "react";

/** Milliseconds until then, told each second. */
export function useLeftMs(expiresAt: string): number {
  const end = Date.parse(expiresAt);
  const [left, setLeft] = useState(() => end - Date.now());
  useEffect(() => {
    const timer = setInterval(() => setLeft(end - Date.now()), 1_000);
    return () => clearInterval(timer);
  }, [end]);
  return left;
}

export function clockText(ms: number): string {
  const seconds = Math.ceil(ms / 1_000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}
