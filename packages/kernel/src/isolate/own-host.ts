import type { Broker } from "../capability/broker.ts";
import { atOnce, type Foreign, itemsOf, membersOf, portOf, textOf, textsOf, type Theirs } from "../support/foreign.ts";
import { type SetupError, setupErrorCodes } from "../result.ts";
import type { RegisteredTool } from "../tool/package.ts";
import type { OwnIsolate } from "./bounded-call.ts";
import type { Isolate, IsolateHost } from "./port.ts";
import { readFailure } from "./reading.ts";

/** A host as the kernel reads it: its facts at the opening of the kernel, and its functions. */
export interface OwnHost
  extends
    Pick<IsolateHost, "name" | "sources" | "capacity" | "idleBytes">,
    Pick<Theirs<IsolateHost>, "close" | "enforces" | "snapshotKind"> {
  readonly brokers: readonly Foreign<Broker>[];
  readonly check?: (tool: RegisteredTool) => SetupError | undefined;
  readonly open: (tool: RegisteredTool, isWanted?: () => boolean) => Promise<OwnIsolate>;
  readonly thaw?: (
    tool: RegisteredTool,
    snapshot: Uint8Array<ArrayBuffer>,
    isWanted?: () => boolean,
  ) => Promise<OwnIsolate>;
}

/** More of anything is a mistake. */
const MOST = 1_000;

/** @throws TypeError for what is no host: a bug of the embedding program */
export function readHost(foreign: Foreign<IsolateHost>): OwnHost {
  const host = portOf(foreign);
  if (!host) throw new TypeError("The host is not an object.");
  const { name, capacity, idleBytes, enforces, snapshotKind, thaw } = host;
  const sources = textsOf(host.sources, MOST);
  const brokers = itemsOf(host.brokers, MOST);
  if (typeof name !== "string" || !sources || !brokers)
    throw new TypeError("The host lacks `name`, `sources` or `brokers`.");
  return {
    name,
    sources,
    brokers,
    enforces: typeof enforces === "function" ? (tool) => enforces.call(host, tool) : (textsOf(enforces, MOST) ?? []),
    ...(typeof capacity === "number" && { capacity }),
    ...(typeof idleBytes === "number" && { idleBytes }),
    check: (tool) => readObjection(atOnce(host.check?.(tool))),
    open: (tool, isWanted) => host.open(tool, isWanted).then(readIsolate, failed),
    ...(thaw && { thaw: (...args) => thaw.apply(host, args).then(readIsolate, failed) }),
    ...(snapshotKind && { snapshotKind: () => snapshotKind.call(host) }),
    close: () => host.close(),
  };
}

function readIsolate(foreign: Foreign<Isolate>): OwnIsolate {
  const isolate = portOf(foreign);
  if (!isolate) throw new TypeError("A host opened a value that is not an isolate.");
  return isolate;
}

function failed(error: unknown): never {
  throw readFailure(error);
}

function readObjection(foreign: Foreign<SetupError | undefined>): SetupError | undefined {
  if (foreign === undefined) return undefined;
  const { code, path, message, hint } = membersOf(foreign, "code", "path", "message", "hint");
  const known = setupErrorCodes.find((each) => each === code) ?? "INVALID_MANIFEST";
  return { code: known, path: textOf(path), message: textOf(message), hint: textOf(hint) };
}
