import type {
  AuditEvent,
  CallOptions,
  CallResult,
  Kernel,
  Mode,
  Setup,
  StandingApproval,
  ToolFilter,
  ToolHealth,
  ToolPackage,
  ToolSummary,
} from "@keyhole/kernel";

/** A kernel that lives in a worker of this page. Where no kernel starts in that worker, every method but `close` rejects with `KernelUnavailable`. */
export interface KernelClient {
  /** Resolves when the kernel is ready; calls need not wait for it. */
  ready(): Promise<void>;
  /** As {@link Kernel.call}; a signal, listeners and an approver work as they do there. */
  call<Input, Output>(
    tool: ToolPackage<Input, Output>,
    input: Input,
    options?: CallOptions,
  ): Promise<CallResult<Output>>;
  call(tool: string, input: unknown, options?: CallOptions): Promise<CallResult>;
  list(filter?: ToolFilter): Promise<readonly ToolSummary[]>;
  health(tool: string | ToolPackage<never, unknown>, options?: HealthOptions): Promise<ToolHealth>;
  readonly audit: {
    read(fromSeq?: number, limit?: number): Promise<readonly AuditEvent[]>;
    subscribe(listener: (event: AuditEvent) => void): () => void;
  };
  mode(): Promise<Mode>;
  setMode(mode: Mode, reason: string): Promise<void>;
  policyHash(): Promise<string>;
  setPolicy(document: unknown): Promise<Setup<{ readonly policyHash: string }>>;
  readonly approvals: {
    list(): Promise<readonly StandingApproval[]>;
    revoke(approvalId: string, reason: string): Promise<boolean>;
  };
  close(): Promise<void>;
}

type HealthOptions = NonNullable<Parameters<Kernel["health"]>[1]>;
