import { visible } from "@keyhole/kernel";
import { useEffect } from "react";
import type { Question } from "./allowed-before.ts";

/** The title of the page while nothing waits. */
let ownTitle: string | undefined;

/** Tells a person who looks at something else that a question waits: in the title, and by a notification where the person wants those. */
export function useAskedAway(questions: readonly Question[]): void {
  const count = questions.length;
  const newest = questions.at(-1);
  useEffect(() => {
    ownTitle ??= document.title;
    document.title = count === 0 ? ownTitle : `(${count}) ${ownTitle}`;
  }, [count]);
  useEffect(() => {
    if (newest !== undefined && document.hidden) notify(newest);
  }, [newest]);
}

/** Without the arguments: a notification stands on locked screens. */
function notify({ request }: Question): void {
  if (!("Notification" in globalThis) || Notification.permission !== "granted") return;
  try {
    const body = `${visible(request.tool)}, for ${visible(request.caller)}`.slice(0, 200);
    const shown = new Notification("A call waits for your answer", { body, tag: request.approvalId });
    shown.addEventListener("click", () => window.focus());
  } catch {
    // Browsers of telephones have the name and refuse the constructor.
  }
}
