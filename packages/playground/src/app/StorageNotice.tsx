import { type ReactNode, useState, useSyncExternalStore } from "react";
import { saved } from "../client/saved.ts";
import { Button } from "../ui/Button.tsx";
import { Notice } from "../ui/Notice.tsx";

/** The names of the values that end with this page view. */
export function useUnsaved(): readonly string[] {
  return useSyncExternalStore(saved.subscribe, saved.unsaved);
}

export function StorageNotice(): ReactNode {
  const unsaved = useUnsaved();
  const [dismissed, setDismissed] = useState<readonly string[]>([]);
  if (unsaved.length === 0 || unsaved === dismissed) return null;
  return (
    <Notice
      tone="warn"
      title={`Not saved: ${unsaved.join(", ")}`}
      urgent
      actions={<Button onPress={() => setDismissed(unsaved)}>Close this message</Button>}
    >
      <p>
        This browser refuses to store data, or its storage is full. The new value holds in this tab until you reload the
        page. After that, the last saved value holds.
      </p>
    </Notice>
  );
}
