import type { ToolSummary } from "@keyhole/kernel";
import { useMemo } from "react";
import type { KernelClient } from "../client/kernel-client.ts";
import type { Foresee } from "./Foresight.tsx";

interface Foreseen {
  readonly client: KernelClient;
  readonly sessionId: string;
  /** Mode, policy and standing approvals: another object asks the kernel again. */
  readonly governed: unknown;
  readonly tool: ToolSummary | undefined;
}

/** How the form asks about a call without making it. `undefined` without a tool, and for a kernel that cannot say. */
export function useForesee({ client, sessionId, governed, tool }: Foreseen): Foresee | undefined {
  return useMemo(() => {
    const { preview } = client;
    if (preview === undefined || tool === undefined) return undefined;
    const { name, version } = tool.manifest;
    return {
      ask: (input) => preview({ tool: name, version, input, sessionId }),
      restsOn: governed,
      isClaim: client.place === "edge",
    };
  }, [client, sessionId, tool, governed]);
}
