import { lazy, type ReactNode, Suspense, useRef, useState } from "react";
import type { Governance } from "../client/kernel-client.ts";
import { type CallHead, isOpen } from "../session/call-head.ts";
import { useSession } from "../session/useSession.ts";
import { useAnnounce } from "../ui/announce.tsx";
import { Button } from "../ui/Button.tsx";
import { saveFile } from "../ui/save.ts";

const LogMenu = lazy(async () => ({ default: (await import("./LogMenu.tsx")).LogMenu }));

interface LogActionsProps {
  /** The calls that the log shows. */
  readonly rows: readonly CallHead[];
  readonly current: string | undefined;
  readonly governance: Governance | undefined;
}

/** Save and delete. The page asks before a deletion, because no step restores the calls. */
export function LogActions({ rows, current, governance }: LogActionsProps): ReactNode {
  const { store } = useSession();
  const announce = useAnnounce();
  const [toDelete, setToDelete] = useState<readonly string[]>();
  const ended = rows.filter(({ state }) => !isOpen(state)).map(({ id }) => id);
  const [fault, setFault] = useState("");
  const [hasMenu, setMenu] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const attempt = (work: Promise<string>): void => {
    setFault("");
    work.then(announce, (error: unknown) => setFault(error instanceof Error ? error.message : String(error)));
  };

  if (toDelete !== undefined)
    return (
      <fieldset className="line drawer-confirm" aria-label="Delete calls">
        Delete {countText(toDelete.length)}? They cannot be brought back.
        <Button
          look="danger"
          onPress={() => {
            setToDelete(undefined);
            void store.remove(toDelete).then(() => announce(`${countText(toDelete.length)} deleted`));
          }}
        >
          Delete
        </Button>
        <Button onPress={() => setToDelete(undefined)}>Keep</Button>
      </fieldset>
    );
  const actions = [
    { text: `Save the events of ${countText(rows.length)}`, act: () => attempt(saveEvents(store, rows)) },
    ...(current === undefined
      ? []
      : [
          { text: "Save the evidence of the shown call", act: () => attempt(saveEvidence(store, current, governance)) },
          { text: "Save the run of the shown call", act: () => attempt(saveRun(store, current)) },
        ]),
    ...(ended.length === 0 ? [] : [{ text: `Delete ${countText(ended.length)}…`, act: () => setToDelete(ended) }]),
  ];
  return (
    <>
      {fault !== "" && <span className="fault">{fault}</span>}
      <Button
        ref={button}
        icon="download"
        aria-haspopup="menu"
        aria-expanded={hasMenu}
        onPress={() => setMenu((has) => !has)}
      >
        Export
      </Button>
      {hasMenu && (
        <Suspense>
          <LogMenu button={button} actions={actions} onClose={() => setMenu(false)} />
        </Suspense>
      )}
    </>
  );
}

type Store = ReturnType<typeof useSession>["store"];

async function saveEvents(store: Store, rows: readonly CallHead[]): Promise<string> {
  const { eventsFile } = await import("./export-calls.ts");
  const { name, content } = await eventsFile(
    store,
    rows.map(({ id }) => id),
  );
  saveFile(name, content);
  return "The events are saved";
}

async function saveEvidence(store: Store, id: string, governance: Governance | undefined): Promise<string> {
  const [run, { evidenceText }] = await Promise.all([store.read(id), import("./export-calls.ts")]);
  const text = run && (await evidenceText(run, governance));
  if (text === undefined) throw new Error("The call has no proof.");
  saveFile(`keyhole-evidence-${id}.json`, text);
  return "The evidence is saved";
}

async function saveRun(store: Store, id: string): Promise<string> {
  const [run, { runText }] = await Promise.all([store.read(id), import("../replay/run-text.ts")]);
  const text = run && (await runText(run));
  if (text === undefined) throw new Error("The page has no record of this run.");
  saveFile(`keyhole-run-${id}.keyhole`, text);
  return "The run is saved";
}

function countText(count: number): string {
  return count === 1 ? "1 call" : `${count.toLocaleString("en")} calls`;
}
