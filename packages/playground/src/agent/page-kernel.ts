import type { RunKernel } from "@keyhole/agents/agent-run";
import type { CallError, JsonValue, ToolSummary } from "@keyhole/kernel";
import type { KernelClient } from "../client/kernel-client.ts";
import type { ActiveRun } from "../run/run-state.ts";
import type { Approve, Calls } from "../session/calls.ts";

interface PageKernelParts {
  readonly client: KernelClient;
  readonly tools: readonly ToolSummary[];
  readonly calls: Calls;
  readonly sessionId: string;
  /** Tells the page's id of a call, as soon as there is one. */
  readonly onCall: (id: string, correlationId: string | undefined) => void;
  /** Answers the questions of one call. */
  readonly approveFor: (id: () => string) => Approve;
}

/** The page's kernel for an agent: each call stands in the log of calls, like those of a person. */
export function pageKernel(parts: PageKernelParts): RunKernel {
  const { client, tools, calls, sessionId, onCall, approveFor } = parts;
  const toolOf = (name: string): ToolSummary => {
    const tool = tools.find(({ manifest }) => manifest.name === name);
    if (tool === undefined) throw new TypeError(`There is no tool ${name}.`);
    return tool;
  };
  return {
    list: () => tools,
    async preview(name, input, { bounds } = {}) {
      const { version } = toolOf(name).manifest;
      if (client.preview === undefined) throw new TypeError("This kernel cannot be asked before a call.");
      return client.preview({ tool: name, version, input: input as JsonValue, sessionId, ...(bounds && { bounds }) });
    },
    async call(name, input, { bounds, correlationId, traceparent, signal, onEvent } = {}) {
      const tool = toolOf(name);
      const within = {
        ...(bounds && { bounds }),
        ...(correlationId !== undefined && { correlationId }),
        ...(traceparent !== undefined && { traceparent }),
      };
      let id = "";
      const approve = approveFor(() => id);
      const asked = { tool, input: input as JsonValue, body: undefined, sessionId, approve, within };
      id = calls.start(client, { ...asked, ...(onEvent && { onEvent }) });
      onCall(id, correlationId);
      const cancel = (): void => calls.cancel(id);
      signal?.addEventListener("abort", cancel, { once: true });
      if (signal?.aborted === true) cancel();
      const run = await endOf(calls, id);
      signal?.removeEventListener("abort", cancel);
      if (run.phase === "done") return run.result;
      return { ok: false, error: lost(run.fault.message), callId: run.events[0]?.callId ?? "" };
    },
  };
}

async function endOf(calls: Calls, id: string): Promise<Exclude<ActiveRun, { phase: "running" }>> {
  return new Promise((resolve) => {
    const look = (): void => {
      const shown = calls.shown(id);
      if (shown.state !== "shown" || shown.run.phase === "running") return;
      leave();
      resolve(shown.run);
    };
    const leave = calls.subscribe(look);
    look();
  });
}

/** The kernel did not answer: whether the tool ran is unknown. */
function lost(message: string): CallError {
  return {
    code: "ISOLATE_LOST",
    message,
    details: null,
    retryable: false,
    hint: "Do not repeat the call. Tell the user that it may have run.",
    operatorHint: "",
  };
}
