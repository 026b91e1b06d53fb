import type { Broker } from "../capability/broker.ts";
import type { CapabilityReply, CapabilityRequest } from "../capability/request.ts";
import type { BoundName } from "../bounds/bounds.ts";
import type { Onward } from "../tool/define.ts";
import type { OutputContract, ToolManifest, ToolSource } from "../tool/manifest.ts";
import type { Hints, SetupError } from "../result.ts";
import type { RegisteredTool } from "../tool/package.ts";
import type { LogEntry, Progress } from "../tool/report.ts";

/**
 * A place where tools run. An implementation opens one dedicated isolate per tool and session, and treats everything
 * that comes out of it as hostile. `test/contract/isolate.ts` says what every implementation must do.
 */
export interface IsolateHost {
  readonly name: string;
  /** The sources of tools that it can run; the kernel refuses others with `UNSUPPORTED_HOST`. */
  readonly sources: readonly ToolSource[];
  /** Bounds that it enforces by itself, beyond those that the kernel enforces on every host; a function where it depends on the tool. */
  readonly enforces: readonly BoundName[] | ((tool: ToolManifest) => readonly BoundName[]);
  /** Whether it stops a tool that never yields, such as `while (true) {}`. */
  readonly preempts: boolean;
  /**
   * Isolates in use at the same time. Beyond, the kernel lets the tools that need one take turns.
   * Default: no bound.
   */
  readonly capacity?: number;
  /**
   * Bytes that isolates hold together while no call uses them. Beyond, the kernel ends the longest
   * idle one of the caller with the most bytes. Default 256 MiB.
   */
  readonly idleBytes?: number;
  /** The real parts of this platform that serve capabilities. The kernel's own options replace them kind by kind. */
  readonly brokers: readonly Broker[];
  /**
   * The objection to a tool at its registration, such as an unknown import of a module. Default:
   * none.
   */
  check?(tool: RegisteredTool): SetupError | undefined;
  /**
   * Rejects only with an {@link IsolateFailure}; anything else is a bug of the host.
   *
   * @param isWanted asked by a host that queues starts, before this one begins: at `false` no
   * caller waits for it, the host starts nothing, and it rejects as `ISOLATE_LOST` with the blame
   * `host`. Asked later too, where only the host can stop code that loads: with the blame `tool` the
   * time that its loading took counts. Default: it is wanted
   */
  open(tool: RegisteredTool, isWanted?: () => boolean): Promise<Isolate>;
  /**
   * Names everything beside the tool that a snapshot of {@link Isolate.suspend} depends on. Hosts
   * with the same name resume each other's snapshots. Absent where calls cannot be suspended; then
   * `thaw` is absent too.
   */
  snapshotKind?(): Promise<string>;
  /**
   * Opens an isolate from the bytes of {@link Isolate.suspend}, for the same tool and the same
   * `snapshotKind`. The kernel has checked both, and the digest of the bytes. Its first `call`
   * continues the suspended one. Rejects and asks `isWanted` as `open` does.
   */
  thaw?(tool: RegisteredTool, snapshot: Uint8Array<ArrayBuffer>, isWanted?: () => boolean): Promise<Isolate>;
  close(): Promise<void>;
}

export function hostOf<Host extends Pick<IsolateHost, "sources">>(
  { manifest }: RegisteredTool,
  hosts: readonly Host[],
): Host | undefined {
  return hosts.find(({ sources }) => sources.includes(manifest.source));
}

/** One tool in its own isolate. Owned by the kernel's pool, which terminates it. */
export interface Isolate {
  /**
   * Runs the tool's `check`, then `execute`; of a call that `asks` for its health, `health` alone. Never rejects for anything that the tool did. The kernel holds the deadline:
   * after {@link Isolate.terminate} the promise settles as `lost`, and nothing that the isolate still sends has an effect.
   */
  call(call: IsolateCall, port: CallPort): Promise<IsolateOutcome>;
  /**
   * The isolate, its memory and the one call that it runs, as bytes. The kernel lets no answer through from before this is called until it has settled, and terminates the isolate
   * then: requests that have no answer by then are asked again, in their order, by the isolate that is made of the bytes. `undefined`: not exactly one call runs, and
   * nothing has changed.
   */
  suspend?(): Promise<Uint8Array<ArrayBuffer> | undefined>;
  /**
   * Milliseconds for which code of the tool may have run for a call: 0 while the call waits for its machine, more from then on. A call that reaches its deadline after it waited longer
   * than it ran does not count against the tool. `undefined`: since the isolate was given the call.
   */
  ranMs?(callId: string): number | undefined;
  /**
   * Asks to be told, once, when code of the tool runs although no call does. The isolate is dead then, and it counts as a failure of the tool: a host that cannot tell such a tool from a
   * slow machine stays silent. Default: the host never tells.
   */
  watch?(onWentOn: () => void): void;
  /** Stops the isolate now, also during a call. Idempotent; never throws. */
  terminate(reason: string): void;
  /** Bytes that it holds while it is idle. The kernel reads it after each call. Default 4 MiB. */
  readonly heldBytes?: number;
  /** `false` once it was terminated, crashed, or broke the protocol. */
  readonly alive: boolean;
}

/** One call for the isolate. Data only, so any transport can carry it. */
export interface IsolateCall {
  /** Instead of a call: whether the tool is well. Its `setup`, then its `health`; nothing else of it runs. */
  readonly asks?: "health";
  readonly callId: string;
  readonly sessionId: string;
  /** The input as canonical JSON. */
  readonly inputText: string;
  readonly outputKind: OutputContract["kind"];
  /** A body comes with the input: {@link CallPort.read}. Default `false`. */
  readonly hasBody?: boolean;
  /** Upper bound of the output in UTF-8 bytes (json, text) or bytes (binary, stream). */
  readonly outputBytes: number;
  /** As {@link OutputContract.transfer}. */
  readonly outputTransfer?: boolean;
  /** Hexadecimal, 64 characters: seeds `random` where it is logical. */
  readonly seed: string;
  /** Milliseconds since the epoch: the time of the logical clock. */
  readonly nowMs: number;
  /**
   * Which of the two the policy grants as real ones (capabilities `clock`, `random`); the others are logical. Own members, always there: the tool
   * shares the realm that reads them, so a method of a list or a member of `Object.prototype` would be its to answer.
   */
  readonly real: RealSources;
  /** Bounds of this call, where it has them. Only a host that names them in {@link IsolateHost.enforces} is given such a call. */
  readonly fuel?: number;
  readonly memoryBytes?: number;
  /** Only for tools of source `inline`, which are the program's own: no isolate learns it. */
  readonly onward?: Onward;
}

export interface RealSources {
  readonly clock: boolean;
  readonly random: boolean;
}

export const allLogical: RealSources = { clock: false, random: false };

/**
 * The cost of a run, as far as its host counts it. The same call costs the same on every host that
 * counts.
 */
export interface IsolateUsage {
  readonly fuelUsed?: number;
  /** The most memory that the isolate ever had; it never gives any back. */
  readonly peakMemoryBytes?: number;
}

/** The kernel's end of one running call. */
export interface CallPort {
  /** Aborts when the caller cancels; the isolate passes it on as `context.signal`. */
  readonly signal: AbortSignal;
  /** Never rejects. The memory of an answer's body is the isolate's from then on. After the end of the call every request gets `CAPABILITY_DENIED`. */
  request(request: CapabilityRequest): Promise<CapabilityReply>;
  log(entry: LogEntry): void;
  progress(progress: Progress): void;
  /**
   * One chunk of a stream, in order, of 1 to `limits.pieceBytes` bytes; its memory belongs to the
   * port from then on. Resolves when the next one may come, with `false` when the caller takes no
   * more. Never rejects. A port without it takes no calls whose `outputKind` is `stream`.
   */
  write?(piece: Uint8Array): Promise<boolean>;
  /**
   * The next piece of the body, of at most `limits.pieceBytes`; its memory is the guest's from then on. One without a byte is the end; `undefined` when it broke off, or the
   * call has ended. Never rejects. One at a time, none after the end, and only in calls with a body.
   */
  read?(): Promise<Uint8Array | undefined>;
  /** Charges a use of trusted code, for `ToolContext.charge`. Only for tools of source `inline`. */
  charge?(bytes: number, isRequest: boolean): boolean;
  /** Before the outcome; of several the last one counts. */
  used?(usage: IsolateUsage): void;
}

/** The result of a tool, in the form in which it crossed the boundary. Not yet checked. */
export type IsolateOutput =
  | { readonly form: "json"; readonly text: string }
  | { readonly form: "text"; readonly text: string }
  /** The memory belongs to the kernel from then on: no other code writes to it. */
  | { readonly form: "binary"; readonly bytes: Uint8Array }
  /** All of it has gone through {@link CallPort.write}. */
  | { readonly form: "stream" };

export type IsolateOutcome =
  | { readonly kind: "returned"; readonly output: IsolateOutput }
  /** The tool's own `check` refused the input, or its `health` says what is wrong. */
  | { readonly kind: "refused"; readonly message: string }
  /**
   * `check` or `execute` threw. `code` is what the thrown error claims; the kernel believes it only of its own refusals. `retryable`: the host knows that the failure
   * passes, as that of an HTTP status does.
   */
  | {
      readonly kind: "threw";
      readonly name: string;
      readonly message: string;
      readonly code?: string;
      readonly retryable?: boolean;
    }
  /** It returned something that has no normal form: a function, a cycle, a lone surrogate, … `unchecked`: the start of the value as text, for its reader alone. */
  | { readonly kind: "unnormalizable"; readonly reason: string; readonly path: string; readonly unchecked?: string }
  | {
      readonly kind: "too-large";
      readonly what: "output" | "messages" | "stack";
      readonly limit: number;
      readonly unchecked?: string;
    }
  /** `limit`: the bound that it reached, its host's own where the call had none. */
  | { readonly kind: "out-of-memory" | "out-of-fuel"; readonly limit?: number }
  /** The isolate died, the kernel terminated it, or it broke the protocol. `blame`: the machine was lost with it, which no tool did. Default: the tool. */
  | { readonly kind: "lost"; readonly reason: string; readonly blame?: "host" };

/** Why an isolate did not open: an expected failure, carried by a rejection because `open` has one good outcome. */
export class IsolateFailure extends Error {
  readonly code: "UNSUPPORTED_HOST" | "ISOLATE_LOST" | "TOOL_ERROR" | "BOUNDS_EXCEEDED";
  /** Hints of this failure; absent ones are those of the code. */
  readonly hints: Partial<Hints>;
  /**
   * The party to blame. A failure of the host never counts against the tool. `code`: the module says
   * itself that it does not load, as for an error of syntax. Of a tool whose calls bring programs that
   * counts against the one program.
   */
  readonly blame: "tool" | "code" | "host";

  constructor(
    code: IsolateFailure["code"],
    message: string,
    hints: Partial<Hints> = {},
    blame: IsolateFailure["blame"] = "tool",
  ) {
    super(message);
    this.name = "IsolateFailure";
    this.code = code;
    this.hints = hints;
    this.blame = blame;
  }
}
