import type { GovernanceState, KernelClient } from "../client/kernel-client.ts";
import type { Approve } from "../session/calls.ts";

export interface BuildScreenProps {
  readonly client: KernelClient;
  readonly governed: GovernanceState | undefined;
  readonly approve: Approve;
  readonly sessionId: string;
  /** The address behind the name of the screen. */
  readonly link: string;
  readonly onLinkTaken: () => void;
  readonly onOpenPolicy: () => void;
}
