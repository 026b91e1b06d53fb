import type { ApprovalAnswer, ApprovalRequest, JsonValue, ToolSummary } from "@keyhole/kernel";
import { useCallback, useEffect, useReducer, useRef } from "react";
import { faultOf, type KernelClient } from "../client/kernel-client.ts";
import { collect } from "./collect.ts";
import { idle, reduceRun, type Run } from "./run-state.ts";

export interface Runner {
  readonly run: Run;
  /** @param body for a tool that takes one */
  readonly start: (tool: ToolSummary, input: JsonValue, body?: Blob) => void;
  readonly cancel: () => void;
  readonly clear: () => void;
}

type Approve = (request: ApprovalRequest, signal: AbortSignal) => Promise<ApprovalAnswer>;

/** Runs one call at a time, on the same kernel for its whole life. A call that the page turns away from is cancelled, and what it still sends is not shown. */
export function useRun(client: KernelClient | undefined, sessionId: string, approve: Approve): Runner {
  const [run, dispatch] = useReducer(reduceRun, idle);
  const current = useRef<AbortController | undefined>(undefined);

  const leave = useCallback(() => {
    current.current?.abort();
    current.current = undefined;
  }, []);

  useEffect(() => leave, [leave]);

  const start = useCallback(
    (tool: ToolSummary, input: JsonValue, body?: Blob) => {
      if (client === undefined) return;
      leave();
      const own = new AbortController();
      current.current = own;
      const ifCurrent = (action: Parameters<typeof dispatch>[0]): void => {
        if (current.current === own) dispatch(action);
      };
      const collector = tool.manifest.output.kind === "stream" ? collect() : undefined;
      dispatch({ type: "start", tool, input, at: Date.now(), received: collector?.byteLength });
      client
        .call({
          tool: tool.manifest.name,
          version: tool.manifest.version,
          input,
          sessionId,
          body,
          output: collector?.output,
          signal: own.signal,
          onEvent: (event) => ifCurrent({ type: "event", event }),
          onLog: (entry) => ifCurrent({ type: "log", entry }),
          onProgress: (progress) => ifCurrent({ type: "progress", progress }),
          approve,
        })
        .then(
          ({ result, verification }) => ifCurrent({ type: "done", result, verification, file: collector?.file() }),
          (error: unknown) => ifCurrent({ type: "broken", fault: faultOf(error) }),
        );
    },
    [client, sessionId, approve, leave],
  );

  const cancel = useCallback(() => {
    dispatch({ type: "cancel" });
    current.current?.abort();
  }, []);

  const clear = useCallback(() => {
    leave();
    dispatch({ type: "clear" });
  }, [leave]);

  return { run, start, cancel, clear };
}
