import { readVersionedId, visible } from "@keyhole/kernel";
import { type ReactNode, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { bytesText } from "../app/words.ts";
import { Button } from "../ui/Button.tsx";
import { BoundaryPicture } from "../ui/BoundaryPicture.tsx";
import { fileDrop } from "../ui/file-drop.ts";
import { Empty, Loading, Notice } from "../ui/Notice.tsx";
import { useSession, useSessionState } from "../session/useSession.ts";
import { useRead } from "../ui/time.ts";
import { isWatched } from "../session/names.ts";
import { rowsOf } from "./entries.ts";
import { Lanes } from "./Lanes.tsx";
import { execute, openCall, openRun, type OpenedRun, toolsOf } from "./open-run.ts";
import type { Played } from "./played.ts";
import { Strip } from "./Strip.tsx";

type Whole = Extract<OpenedRun, { ok: true }>;

/** Drop a run file: is it whole, and does it give the same bytes again? */
export function RunReplay({ callId }: { readonly callId: string }): ReactNode {
  const { opened, open } = useOpened(callId);
  const input = useRef<HTMLInputElement>(null);
  return (
    <section className="column replay-run" aria-label="Run file" {...fileDrop(([file]) => void open(file))}>
      <div className="bar replay-file">
        <input
          ref={input}
          type="file"
          hidden
          accept=".keyhole"
          onChange={({ currentTarget }) => {
            void open(currentTarget.files?.[0]);
            // A person may choose the same file again after a change.
            currentTarget.value = "";
          }}
        />
        <Button icon="upload" onPress={() => input.current?.click()}>
          Open a run
        </Button>
        {typeof opened === "object" && opened.ok && (
          <span className="muted">
            <code>{visible(opened.name)}</code> {opened.run.entries.length.toLocaleString("en")} entries,{" "}
            {bytesText(opened.bytes)}
          </span>
        )}
      </div>
      {opened === undefined && <NoRun />}
      {opened === "reading" && <Loading>Reading the run…</Loading>}
      {typeof opened === "object" && !opened.ok && (
        <Notice tone="bad" title={`${opened.name} is no whole run`} urgent>
          <p>{visible(opened.reason)}</p>
        </Notice>
      )}
      {typeof opened === "object" && opened.ok && <Opened key={opened.hash} opened={opened} />}
    </section>
  );
}

interface OpenedState {
  readonly opened: OpenedRun | "reading" | undefined;
  readonly open: (file: File | undefined) => Promise<void>;
}

/** The call of the address at first, then the file that a person opens. */
function useOpened(callId: string): OpenedState {
  const [opened, setOpened] = useState<OpenedRun | "reading" | undefined>(callId === "" ? undefined : "reading");
  const { store } = useSession();
  const latest = useRef(0);
  const take = useCallback(async (reading: Promise<OpenedRun>): Promise<void> => {
    const turn = ++latest.current;
    const read = await reading;
    // A person may have opened another one meanwhile.
    if (turn === latest.current) setOpened(read);
  }, []);
  useEffect(() => {
    if (callId !== "") void take(openCall(store, callId));
  }, [callId, store, take]);
  return {
    opened,
    async open(file) {
      if (file === undefined) return;
      setOpened("reading");
      await take(openRun(file));
    },
  };
}

/** The latest calls that ran in the page's own kernel. */
const mostCalls = 8;

function NoRun(): ReactNode {
  const { heads } = useSessionState();
  const ran = heads.filter((head) => head.place === "browser" && head.state === "completed" && !isWatched(head));
  const calls = ran.slice(0, mostCalls);
  return (
    <Empty title="Drop a run file here, or choose a call" picture={<BoundaryPicture />}>
      <p>
        A run has all that a tool was given and answered. The page executes it again in its isolates, without a network,
        and shows the first difference.
      </p>
      {calls.length > 0 && (
        <ul className="box replay-calls" aria-label="Calls of this session">
          {calls.map(({ id, tool, what, startedAt }) => (
            <li key={id}>
              <a className="hovers" href={`#/replay/${encodeURIComponent(id)}`}>
                <code>{visible(readVersionedId(tool).name)}</code>
                <span className="clip muted mono-s">{visible(what)}</span>
                <span className="muted">{new Date(startedAt).toLocaleTimeString("en", { hour12: false })}</span>
              </a>
            </li>
          ))}
        </ul>
      )}
    </Empty>
  );
}

function Opened({ opened }: { readonly opened: Whole }): ReactNode {
  const { run } = opened;
  const rows = useMemo(() => rowsOf(run), [run]);
  const known = useRead(useCallback(() => toolsOf(run), [run]));
  const [played, setPlayed] = useState<Played>({ state: "idle" });
  const play = (): void => {
    setPlayed({ state: "running" });
    execute(run, known?.tools ?? []).then(
      (replay) => setPlayed({ state: "done", replay }),
      (error: unknown) =>
        setPlayed({ state: "failed", reason: error instanceof Error ? error.message : String(error) }),
    );
  };
  return (
    <>
      <Strip opened={opened} known={known} played={played} />
      {played.state === "failed" && (
        <Notice tone="bad" title="The replay did not run" urgent>
          <p>{visible(played.reason)}</p>
        </Notice>
      )}
      {played.state === "done" && !played.replay.ok && played.replay.kind === "refused" && (
        <Notice tone="warn" title="The replay was refused, and nothing ran" urgent>
          <p>{visible(played.replay.reason)}</p>
        </Notice>
      )}
      <Lanes run={run} rows={rows} played={played} onPlay={play} canPlay={known !== undefined} />
    </>
  );
}
