import { type ReactNode, useState } from "react";
import { useSession, useSessionState } from "../session/useSession.ts";
import { Button } from "../ui/Button.tsx";
import { Notice } from "../ui/Notice.tsx";
import { visible } from "@keyhole/kernel";

/** The parts of the session that are unstored or unreadable. */
export function SessionNotice(): ReactNode {
  const { store } = useSession();
  const { fault, unsaved, unreadable, isLost } = useSessionState();
  const [closed, setClosed] = useState<unknown>();
  if (fault !== undefined && fault !== closed)
    return (
      <Notice
        tone="warn"
        title={unsaved === 0 ? "The calls of this browser cannot be read" : `Not saved: ${callsText(unsaved)}`}
        urgent
        actions={
          <>
            <Button look="danger" onPress={() => void store.removeAll()}>
              Delete all saved calls
            </Button>
            <Button onPress={() => setClosed(fault)}>Close this message</Button>
          </>
        }
      >
        <p>
          {fault.kind === "full"
            ? "The storage of this browser is full."
            : `This browser does not store the calls: ${visible(fault.reason)}`}{" "}
          Calls stay in this tab until you close or reload it. You can save them to files with Export.
        </p>
      </Notice>
    );
  if (unreadable.length > 0 && unreadable !== closed)
    return (
      <Notice
        tone="warn"
        title={`${callsText(unreadable.length)} of the session cannot be read`}
        actions={
          <>
            <Button look="danger" onPress={() => void store.remove(unreadable)}>
              Delete what cannot be read
            </Button>
            <Button onPress={() => setClosed(unreadable)}>Close this message</Button>
          </>
        }
      >
        <p>Another version of the page may have saved them, or they are damaged. They stay until you delete them.</p>
      </Notice>
    );
  if (isLost && closed !== "lost")
    return (
      <Notice
        tone="warn"
        title="The saved calls of this browser are gone"
        actions={<Button onPress={() => setClosed("lost")}>Close this message</Button>}
      >
        <p>Their database was damaged or deleted, and the browser began an empty one. New calls are saved again.</p>
      </Notice>
    );
  return null;
}

function callsText(count: number): string {
  return count === 1 ? "1 call" : `${count.toLocaleString("en")} calls`;
}
