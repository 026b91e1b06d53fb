import type {
  ApprovalAnswer,
  ApprovalRequest,
  AuditEvent,
  CallOptions,
  CallResult,
  JsonValue,
  LogEntry,
  Mode,
  Preview,
  Progress,
  Setup,
  StandingApproval,
  ToolPackage,
  ToolSummary,
} from "@keyhole/kernel";
import type { RunEntry } from "@keyhole/kernel/replay";
import { EdgeFault, type Verification } from "@keyhole/worker-host/edge-protocol";
import { Listeners } from "./listeners.ts";

export const places = ["browser", "edge"] as const;
/** Where the kernel runs that the page talks to. */
export type Place = (typeof places)[number];

/** A kernel as the page sees it; the page never asks which one it is. Every method rejects only with a {@link ClientFault} or an `EdgeFault`; {@link faultOf} reads both. */
export interface KernelClient {
  readonly place: Place;
  /** Origin of an edge. */
  readonly address?: string;
  /** The tools of the kernel, as far as the page knows them before its start. */
  readonly tools: readonly ToolSummary[];
  /** The kernel answers. Earlier calls wait for it. Rejects with a {@link ClientFault}. */
  readonly started: Promise<Started>;
  /** Expected failures are results. Rejects when the kernel does not answer or does not speak its protocol. */
  call(call: ClientCall): Promise<ClientAnswer>;
  /** The decision about the call if a caller made it now. Absent where this client cannot ask. */
  readonly preview?: (
    call: Pick<ClientCall, "tool" | "input" | "version" | "sessionId"> & Pick<CallOptions, "bounds">,
  ) => Promise<Preview>;
  /** Gives the kernel a tool, in the place of one that this client gave it under the same name. No other name that exists is free. Absent where the kernel takes none from here. */
  readonly register?: (pkg: ToolPackage) => Promise<Setup<ToolSummary>>;
  /**
   * Tells the tools after a change. Absent where they do not change while the page looks.
   *
   * @returns a function that removes the listener
   */
  readonly watchTools?: (listener: (tools: readonly ToolSummary[]) => void) => () => void;
  /** Another program makes the calls; this page looks at them. */
  readonly isWatched?: boolean;
  /**
   * Tells the events of all calls from now on. Absent where the page hears of its own calls alone.
   *
   * @returns a function that removes the listener
   */
  readonly watch?: (listener: (events: readonly AuditEvent[]) => void) => () => void;
  /** Absent where this client may not see the kernel's policy. */
  readonly governance: Governance | undefined;
  close(): void;
}

export interface Started {
  readonly tools: readonly ToolSummary[];
  /** Something about the start that the person has to know. */
  readonly warning: string | undefined;
}

export interface ClientAnswer {
  readonly result: CallResult;
  /** Absent where the kernel is the page's own. */
  readonly verification?: Verification;
  /** All that the tool could observe. Absent where nothing ran, where it is too much, and for a kernel elsewhere. */
  readonly recorded?: readonly RunEntry[];
}

/** The run of an agent that a call is part of. */
export type CallWithin = Pick<CallOptions, "bounds" | "correlationId" | "traceparent">;

export interface ClientCall {
  readonly tool: string;
  readonly version: string;
  readonly input: JsonValue;
  readonly sessionId: string;
  /** The additions of an agent's run. */
  readonly within?: CallWithin | undefined;
  /** For a tool that takes one. */
  readonly body: Blob | undefined;
  /** Takes what the tool streams: all of it when the call resolves with success, or nothing where the bytes cannot come here. */
  readonly output: WritableStream<Uint8Array> | undefined;
  /** Cancels the call, not only the waiting for it. */
  readonly signal: AbortSignal;
  readonly onEvent: (event: AuditEvent) => void;
  readonly onLog: (entry: LogEntry) => void;
  readonly onProgress: (progress: Progress) => void;
  /** `signal` aborts when no caller waits for the answer. */
  readonly approve: (request: ApprovalRequest, signal: AbortSignal) => Promise<ApprovalAnswer>;
}

export interface Governance {
  read(): Promise<GovernanceState>;
  /** Absent where the policy is read-only. */
  readonly setPolicy?: (document: JsonValue) => Promise<Setup<{ readonly policyHash: string }>>;
  readonly setMode?: (mode: Mode, reason: string) => Promise<void>;
  /**
   * Tells when this page changed the policy or the mode; absent where it can change neither.
   *
   * @returns a function that removes the listener
   */
  readonly subscribe?: (listener: () => void) => () => void;
  /** Approvals that outlive their call. */
  readonly approvals: {
    list(): Promise<readonly StandingApproval[]>;
    /** A missing one is no fault. */
    revoke(approvalId: string): Promise<void>;
    /** The open requests of all callers. Absent where this client receives its own calls alone. */
    readonly desk?: {
      waiting(): Promise<readonly ApprovalRequest[]>;
      /** An answer to a closed request is no fault. */
      answer(approvalId: string, answer: ApprovalAnswer): Promise<void>;
    };
  };
}

/** Tells its listeners of every change through it. */
export function heard(governance: Omit<Governance, "subscribe">): Governance {
  const { setPolicy, setMode } = governance;
  const { subscribe, tell } = new Listeners();
  return {
    ...governance,
    ...(setPolicy && { setPolicy: (document) => setPolicy(document).finally(tell) }),
    ...(setMode && { setMode: (mode, reason) => setMode(mode, reason).finally(tell) }),
    subscribe,
  };
}

export interface GovernanceState {
  readonly policy: JsonValue;
  readonly policyHash: string;
  readonly mode: Mode;
}

/** The kernel is out of reach. Message and hint are for the person at the page. */
export class ClientFault extends Error {
  readonly kind: "unreachable" | "unauthorized" | "unconfigured" | "protocol" | "start" | "left";
  readonly hint: string;

  constructor(kind: ClientFault["kind"], message: string, hint: string) {
    super(message);
    this.name = "ClientFault";
    this.kind = kind;
    this.hint = hint;
  }
}

export function faultOf(error: unknown): ClientFault {
  if (error instanceof ClientFault) return error;
  if (error instanceof EdgeFault) {
    const kind = kindOf.get(error.code) ?? "protocol";
    return new ClientFault(kind, error.message, hintOf.get(kind) ?? error.hint);
  }
  const message = error instanceof Error ? error.message : String(error);
  return new ClientFault("protocol", message, "This is a fault of the page. Reload it and try again.");
}

const kindOf: ReadonlyMap<EdgeFault["code"], ClientFault["kind"]> = new Map([
  ["EDGE_UNREACHABLE", "unreachable"],
  ["EDGE_SILENT", "unreachable"],
  ["EDGE_UNAUTHENTICATED", "unauthorized"],
]);

/** By what a person can do in this page. */
const hintOf: ReadonlyMap<ClientFault["kind"], string> = new Map([
  ["unreachable", "Is it running, and does it allow this page's origin? Its address and token are under “Edge”."],
  ["unauthorized", "Copy the token that the edge printed when it started, and enter it under “Edge”."],
]);
