import type {
  ApprovalAnswer,
  ApprovalRequest,
  AuditEvent,
  CallResult,
  Kernel,
  KernelHealth,
  LogEntry,
  Progress,
  ToolHealth,
} from "@keyhole/kernel";
import type * as Comlink from "comlink";
import type { CalledTool } from "../called-tool.ts";
import type { CloneSafe } from "./clone-safe.ts";
import type { SentFields } from "./remote-options.ts";

export const KERNEL_LANE = "keyhole.kernel";

/** The caller's side of one call: functions cross one by one, behind one proxy. */
export interface CallListeners {
  event(event: AuditEvent): void;
  log(entry: LogEntry): void;
  progress(progress: Progress): void;
  /** Resolves when the caller has taken it. */
  write(piece: Uint8Array): Promise<void>;
  /** The next chunk of the body, as the caller's stream gives it; `undefined` at its end. */
  read(): Promise<unknown>;
  /** The kernel no longer reads the body. */
  leave(): void;
  ask(request: ApprovalRequest): Promise<ApprovalAnswer>;
  /** The same, about a call that the call makes. */
  askNested(request: ApprovalRequest): Promise<ApprovalAnswer>;
  /** The kernel no longer waits for that answer. */
  withdraw(approvalId: string): void;
}

/** The present listeners: an event without a listener does not cross. */
export interface Wanted {
  readonly event: boolean;
  readonly log: boolean;
  readonly progress: boolean;
  /** `refused`: there is one that is not the caller's to give. */
  readonly output: boolean | "refused";
  readonly body: boolean | "refused";
  readonly ask: boolean;
  readonly askNested: boolean;
}

export type Releasable<T> = Comlink.Remote<T & Comlink.ProxyMarked>;

/** The parts of one running call. */
export interface SentCall {
  /** By which the page cancels it. */
  readonly token: string;
  readonly options: SentFields;
  readonly wanted: Wanted;
}

type Answer<Method extends (...args: never[]) => unknown> = Promise<Awaited<ReturnType<Method>>>;

/** The worker's methods for the page. Values of the caller cross as a {@link CloneSafe}. */
export interface KernelApi {
  call(tool: CalledTool, input: CloneSafe, sent: SentCall, listeners: Releasable<CallListeners>): Promise<CallResult>;
  resume(bytes: CloneSafe, sent: SentCall, listeners: Releasable<CallListeners>): Promise<CallResult>;
  cancel(token: string): void;
  suspend(...args: Parameters<Kernel["suspend"]>): Answer<Kernel["suspend"]>;
  preview(tool: CalledTool, input: CloneSafe, options: SentFields): Answer<Kernel["preview"]>;
  register(pkg: SentFields): Answer<Kernel["register"]>;
  unregister(...args: Parameters<Kernel["unregister"]>): Answer<Kernel["unregister"]>;
  list(...args: Parameters<Kernel["list"]>): Answer<Kernel["list"]>;
  kernelHealth(): Promise<KernelHealth>;
  health(tool: CalledTool, options: SentFields): Promise<ToolHealth>;
  verifyPure(tool: CalledTool, inputs: readonly CloneSafe[], runs?: number): Answer<Kernel["verifyPure"]>;
  isLogWritable(): Promise<boolean>;
  readLog(...args: Parameters<Kernel["audit"]["read"]>): Answer<Kernel["audit"]["read"]>;
  subscribe(token: string, listener: Releasable<(event: AuditEvent) => void>): Promise<void>;
  watchTools(token: string, listener: Releasable<() => void>): Promise<void>;
  unsubscribe(token: string): Promise<void>;
  mode(): Promise<Kernel["mode"]>;
  setMode(...args: Parameters<Kernel["setMode"]>): Answer<Kernel["setMode"]>;
  policyHash(): Promise<string>;
  setPolicy(document: CloneSafe): Answer<Kernel["setPolicy"]>;
  listApprovals(): Answer<Kernel["approvals"]["list"]>;
  revokeApproval(...args: Parameters<Kernel["approvals"]["revoke"]>): Answer<Kernel["approvals"]["revoke"]>;
  listRevocations(): Answer<Kernel["grants"]["list"]>;
  revokeGrants(match: CloneSafe, reason: string): Answer<Kernel["grants"]["revoke"]>;
  restoreGrants(...args: Parameters<Kernel["grants"]["restore"]>): Answer<Kernel["grants"]["restore"]>;
  close(): Promise<void>;
}
