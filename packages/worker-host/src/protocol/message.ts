import type { CapabilityReply, IsolateCall, IsolateOutcome, LogEntry, Progress } from "@keyhole/kernel";
import type { SuspendedMachine } from "./suspended-call.ts";

/** Host to guest. Trusted: the guest checks nothing. */
export type HostMessage =
  /** An ES module without imports, or a metered WebAssembly module. Once, before any call. */
  | LoadMessage
  | { readonly type: "call"; readonly call: IsolateCall | CommandCall }
  | { readonly type: "cancel"; readonly callId: string }
  | { readonly type: "reply"; readonly callId: string; readonly request: number; readonly reply: CapabilityReply }
  /** The caller has taken one chunk of the output: credit for one more, if `more`. */
  | { readonly type: "taken"; readonly callId: string; readonly more: boolean }
  /** A chunk of the body: empty at its end, `undefined` after its failure. */
  | { readonly type: "pulled"; readonly callId: string; readonly bytes: Uint8Array | undefined };

export interface LoadMessage {
  readonly type: "load";
  readonly code: LoadedCode;
  /** Memory that an interpreter gives the module while it is loaded. Default: that of its calls without a bound. */
  readonly memoryBytes?: number | undefined;
}

/** Host to the relay around an interpreter, in the order of what it sends the guest. */
export type MachineMessage =
  /** Gives its machine away, where exactly one call runs in it; `suspended` follows in any case. */
  | { readonly type: "suspend" }
  /** In place of `load` and `call`: the guest takes this machine, which continues. */
  | { readonly type: "thaw"; readonly machine: SuspendedMachine };

/** Host to a guest in which no call runs. It answers `pong` at once, unless something of its tool runs. */
export interface PingMessage {
  readonly type: "ping";
}

/** The text of an ES module, or a metered WebAssembly module. */
export type LoadedCode = string | LoadedModule;

export interface LoadedModule {
  /** Compiled it crosses between threads of one agent cluster only; elsewhere its bytes do. */
  readonly module: Uint8Array<ArrayBuffer> | WebAssembly.Module;
  /** The arguments of a command; the program's name is the first. */
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** Memory of a call that has no bound of its own. */
  readonly memoryBytes: number;
}

/**
 * A run of a module as a command, with its arguments in the call. Its output is the block of bytes
 * in which a relay packs the command's end.
 */
export interface CommandCall extends IsolateCall {
  readonly command: {
    readonly args: readonly string[];
    readonly environment: Readonly<Record<string, string>>;
    readonly stdin: Uint8Array;
    /** The host ends a command that writes more. */
    readonly stdoutBytes: number;
    /** Of what it says on stderr, the first bytes are kept. */
    readonly stderrBytes: number;
  };
}

/** Guest to host. Hostile: only what `parseGuestMessage` let through has these types. */
export type GuestMessage =
  | GuestReady
  | { readonly type: "loaded" }
  | { readonly type: "pong" }
  | { readonly type: "load-failed"; readonly name: string; readonly message: string }
  | ({ readonly type: "log"; readonly callId: string } & LogEntry)
  | ({ readonly type: "progress"; readonly callId: string } & Progress)
  | GuestRequest
  | GuestPiece
  /** The next piece of the body, please. One at a time, and none after the end. */
  | { readonly type: "pull"; readonly callId: string }
  | { readonly type: "outcome"; readonly callId: string; readonly outcome: GuestOutcome };

/**
 * A relay around an interpreter to the host, beside what it passes on of the guest: its own words, which no guest can say, because the relay makes them and a channel that
 * is not metered does not know them.
 */
export type MeterMessage =
  /** The cost of a call, before its outcome. */
  | { readonly type: "usage"; readonly callId: string; readonly fuelUsed: number; readonly peakMemoryBytes: number }
  /** A call reached one of its bounds. */
  | ({ readonly type: "exhausted" } & Exhaustion)
  /** The host has passed on all earlier messages of the guest. */
  | { readonly type: "suspended"; readonly machine: SuspendedMachine | undefined }
  /**
   * The last message. It is one message, so no code sends another in between: `by`, the call whose
   * bound ended the machine; `last`, the message of the guest or the relay before.
   */
  | { readonly type: "died"; readonly reason: string; readonly by?: Exhaustion; readonly last?: unknown };

export interface Exhaustion {
  readonly callId: string;
  readonly outcome: Extract<IsolateOutcome, { kind: "out-of-fuel" | "out-of-memory" | "too-large" }>;
}

/** The shell runs in its hardened realm. Sent before any code of a tool is there. */
export interface GuestReady {
  readonly type: "ready";
  /** Whether the page's policy lets blobs be imported; without it no tool can be loaded. */
  readonly imports: boolean;
  /** Whether it lets WebAssembly compile. */
  readonly wasm: boolean;
}

export interface GuestRequest {
  readonly type: "request";
  readonly callId: string;
  /** 0, 1, 2, … within the call. */
  readonly request: number;
  readonly kind: string;
  readonly operation: string;
  /** JSON text of an object: nested foreign data crosses as text, so that its size and depth are checked before it is data. */
  readonly arguments: string;
  readonly body?: Uint8Array | undefined;
}

/** Of an output that is a stream. */
export interface GuestPiece {
  readonly type: "piece";
  readonly callId: string;
  /** 0, 1, 2, … within the call. At most `piecesInFlight` go ahead of their `taken`. */
  readonly piece: number;
  /** 1 to `pieceBytes`, and its buffer holds nothing else. */
  readonly bytes: Uint8Array;
}

/** Outcomes that a guest can know of; the rest is for the host to say. */
export type GuestOutcome =
  | Extract<IsolateOutcome, { kind: "returned" | "refused" | "unnormalizable" }>
  | { readonly kind: "threw"; readonly name: string; readonly message: string; readonly code?: string | undefined }
  | { readonly kind: "too-large"; readonly what: "output"; readonly limit: number; readonly unchecked?: string };
