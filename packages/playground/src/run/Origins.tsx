import { type JsonValue, visible } from "@keyhole/kernel";
import { type ReactNode, useCallback } from "react";
import { isOpen } from "../session/call-head.ts";
import { type EarlierCall, type Origin, originsOf, outputText } from "../session/origins.ts";
import { useSession } from "../session/useSession.ts";
import { useRead } from "../ui/time.ts";

interface OriginsProps {
  readonly input: JsonValue;
  /** Milliseconds since the epoch: the search covers only calls before it. */
  readonly before: number;
}

/** The latest calls of the search. */
const mostCalls = 50;
const mostShown = 5;

/** Where values of an input stood before, so that a person sees what came from a tool and from no input. */
export function Origins({ input, before }: OriginsProps): ReactNode {
  const { store } = useSession();
  const search = useCallback(async (): Promise<readonly Origin[]> => {
    const heads = store.state().heads.filter(({ state, startedAt }) => !isOpen(state) && startedAt < before);
    const calls = heads.slice(0, mostCalls).map(async ({ id, tool, startedAt }): Promise<readonly EarlierCall[]> => {
      const run = await store.read(id).catch(() => undefined);
      if (run === undefined) return [];
      const data = run.phase === "done" && run.result.ok ? run.result.data : undefined;
      return [{ tool, startedAt, input: run.input, output: outputText(data) }];
    });
    return originsOf(input, (await Promise.all(calls)).flat());
  }, [input, before, store]);
  const origins = useRead(search);
  if (origins === undefined || origins.length === 0) return null;
  return (
    <div className="plain-list wrap origins">
      <ul className="plain-list">
        {origins.slice(0, mostShown).map(({ value, tool, startedAt }) => (
          <li key={value}>
            <code>{visible(value.slice(0, 120))}</code> stands in the output of <code>{visible(tool)}</code> at{" "}
            {new Date(startedAt).toLocaleTimeString("en-GB")}, and in no earlier input.
          </li>
        ))}
      </ul>
      <p className="hint">This is a search for the text in the log of calls. It shows no more than that.</p>
    </div>
  );
}
