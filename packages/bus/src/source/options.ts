import type { Capability, Clock, Effect, LogEntry, Need, Tier } from "@keyhole/kernel";
import type { OptionNames } from "@keyhole/kernel/foreign";
import { type ForeignBounds, foreignBounds, type ForeignTool, type ToolPinStore } from "@keyhole/kernel/foreign-tools";
import type { BusCredential } from "../wire/seal.ts";

export interface BusSourceOptions extends ForeignBounds {
  /** Begins the names of the tools in this kernel: 1 to 20 lower-case letters and digits. */
  readonly name: string;
  /** Begins all subjects. Default `keyhole.tool`. */
  readonly prefix?: string;
  /** Begins the subjects of answers. Default `_INBOX`. A server that lets each user listen to its own inbox alone keeps answers from others. */
  readonly inboxPrefix?: string;
  /** Seals requests, and requires sealed answers. Default: none, and the kernels take everyone for one caller. */
  readonly credential?: BusCredential;
  /** Default: in memory. */
  readonly pins?: ToolPinStore;
  /** By the serving kernel's name of a tool. Default: the tier that its definition names, and at least 2. */
  readonly tiers?: Readonly<Record<string, Tier>>;
  /** The capabilities that this kernel's policy must grant to each tool. Default: nothing beside the tier. */
  readonly capabilities?: readonly Capability[];
  /** The accesses of each call, at least one for each capability: the policy decides about each. Default: none. */
  readonly needs?: readonly Need[];
  /** Default: none. */
  readonly effects?: readonly Effect[];
  /** Names of tools that have to be there. Discovery ends when each is described, else after `discoveryMs`. */
  readonly expect?: readonly string[];
  /** How long kernels have to describe their tools, in ms. Default 500. */
  readonly discoveryMs?: number;
  /** Between two questions after a call that is not answered, in ms. After three without an answer the kernel counts as gone. Default 2,000. */
  readonly askMs?: number;
  readonly clock?: Clock;
  /** A definition waits for {@link BusSource.confirm}. */
  readonly onChange?: (tool: ForeignTool) => void;
  /** Receives dropped messages and faults of the connection, at most ten at once and then one a second. Default: none. */
  readonly onError?: (error: Error) => void;
}

export const sourceOptions: OptionNames<BusSourceOptions> = {
  name: true,
  prefix: true,
  inboxPrefix: true,
  credential: true,
  pins: true,
  tiers: true,
  capabilities: true,
  needs: true,
  effects: true,
  expect: true,
  discoveryMs: 1,
  askMs: 1,
  clock: true,
  onChange: true,
  onError: true,
  ...foreignBounds,
};

/** The tools of the kernels on a bus, in this kernel. */
export interface BusSource {
  /** In the order of their names. */
  readonly tools: readonly ForeignTool[];
  /** Accepts the definition of this hash, if it is still the one that the kernels describe. `false` where it is not. */
  confirm(serverName: string, hash: string): Promise<boolean>;
  /** Asks the kernels for their tools again. The source asks again when a kernel announces changed tools. @throws Error where none answers */
  refresh(): Promise<void>;
  /** Ends the calls in progress, and takes the tools from the kernel. */
  close(): Promise<void>;
}

/** The reports of a running call. */
export interface CallReports {
  readonly log: (message: string, level?: LogEntry["level"]) => void;
  readonly progress: (progress: { readonly done: number; readonly total?: number; readonly message?: string }) => void;
}
