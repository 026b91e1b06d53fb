import { type ReactNode, useEffect, useState } from "react";
import { IconButton } from "./Button.tsx";
import { useAnnounce } from "./announce.tsx";

/** How long the check mark stays. */
const shownMs = 1_600;

export function CopyButton({ text, what }: { readonly text: string; readonly what: string }): ReactNode {
  const [copied, setCopied] = useState(false);
  const announce = useAnnounce();

  useEffect(() => {
    if (!copied) return undefined;
    const timer = setTimeout(() => setCopied(false), shownMs);
    return () => clearTimeout(timer);
  }, [copied]);

  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      setCopied(true);
      announce(`Copied ${what}`);
    } catch {
      announce(`The browser did not allow copying ${what}`);
    }
  };
  return <IconButton icon={copied ? "check" : "copy"} label={`Copy ${what}`} onPress={() => void copy()} />;
}
