import type { ApprovalRequest, ArgumentCondition, JsonValue } from "@keyhole/kernel";
import { patternFault } from "@keyhole/kernel";
import { withDefaults } from "@keyhole/worker-host/edge-protocol";
import { useCallback } from "react";
import { isOpen } from "../session/call-head.ts";
import { useSession, useSessionState } from "../session/useSession.ts";
import { useRead } from "../ui/time.ts";

/** An earlier call of the same tool. */
export interface EarlierCall {
  /** The input in one line. */
  readonly what: string;
  /** As the kernel hashes it. */
  readonly input: JsonValue;
}

/** The latest calls that the page tries a pattern on. */
const mostTried = 20;

/** The calls that the pattern would have answered, had it stood then. */
export function matchedBy(
  request: ApprovalRequest,
  pattern: readonly ArgumentCondition[],
  earlier: readonly EarlierCall[],
): readonly EarlierCall[] {
  return earlier.filter(({ input }) => patternFault({ ...request, input }, pattern) === undefined);
}

/** The latest ended calls of the tool in this browser; `undefined` while they are read. The list omits unreadable calls. */
export function useEarlierCalls({ tool }: ApprovalRequest): readonly EarlierCall[] | undefined {
  const { store } = useSession();
  const { heads } = useSessionState();
  const ids = heads.filter((head) => head.tool === tool && !isOpen(head.state)).slice(0, mostTried);
  const key = ids.map(({ id }) => id).join();
  const read = useCallback(async (): Promise<readonly EarlierCall[]> => {
    const calls = ids.map(async ({ id, what }): Promise<readonly EarlierCall[]> => {
      const run = await store.read(id).catch(() => undefined);
      return run === undefined ? [] : [{ what, input: withDefaults(run.tool.manifest.input, run.input) }];
    });
    return (await Promise.all(calls)).flat();
    // The ids stand for the heads, which are new objects at every event of the session.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [key, store]);
  return useRead(read);
}
