import type { Kernel } from "@keyhole/kernel";
import type { BusCallers, BusCredential, BusPort } from "@keyhole/bus";
import type { BusEntry, BusSourceEntry } from "./sections/bus.ts";

/** Of a fault, below the section `bus`. */
export type BusPath = readonly (string | number)[];

/** The parts of a host: the library, which is a peer, and its source of variables. */
export interface BusParts {
  readonly bus: typeof import("@keyhole/bus");
  readonly variable: (name: string) => string | undefined;
  readonly fail: (path: BusPath, message: string, hint: string) => never;
  /** Receives dropped messages and faults of the connection. */
  readonly onError: (error: Error) => void;
}

/** The options of NATS's client, on each transport. */
export interface BusConnectOptions {
  readonly servers: string[];
  readonly maxReconnectAttempts: -1;
  readonly user?: string;
  readonly pass?: string;
  readonly token?: string;
}

export function busConnectOptions({ servers, user, password, token }: BusEntry, parts: BusParts): BusConnectOptions {
  return {
    servers: [...servers],
    maxReconnectAttempts: -1,
    ...(user !== undefined && { user }),
    ...(password && { pass: valueIn(password, ["password"], parts) }),
    ...(token && { token: valueIn(token, ["token"], parts) }),
  };
}

/** Whether all servers are reached over WebSocket, or none. */
export function isOverWebSocket({ servers }: BusEntry, { fail }: BusParts): boolean {
  const over = servers.filter((each) => /^wss?:/.test(each)).length;
  if (over === 0 || over === servers.length) return over > 0;
  return fail(["servers"], "Some servers use WebSocket and others do not.", "Use one transport.");
}

/**
 * Calls the tools of the sources of a configuration and, with `serve`, offers those of the kernel. Returns the ways to leave, in the order of joining.
 *
 * @throws the error of `fail` for a missing tool or variable. The host joins no bus then.
 */
export async function openOnBus(
  kernel: Kernel,
  port: BusPort,
  entry: BusEntry,
  parts: BusParts & { readonly serve: boolean },
): Promise<readonly (() => Promise<void>)[]> {
  const closes: (() => Promise<void>)[] = [];
  try {
    for (const [name, source] of Object.entries(entry.sources ?? {}))
      closes.push(await openSource(kernel, port, { ...source, name, ...prefixOf(entry) }, parts));
    if (parts.serve && entry.serve) closes.push(await openServer(kernel, port, entry, parts));
    return closes;
  } catch (error) {
    for (const close of closes.toReversed()) await close();
    throw error;
  }
}

const prefixOf = ({ prefix }: BusEntry): { readonly prefix?: string } => (prefix === undefined ? {} : { prefix });

async function openSource(
  kernel: Kernel,
  port: BusPort,
  { credential, ...own }: BusSourceEntry & { readonly name: string; readonly prefix?: string },
  parts: BusParts,
): Promise<() => Promise<void>> {
  const path = ["sources", own.name];
  const seals = credential && { credential: credentialOf(credential, [...path, "credential", "key"], parts) };
  try {
    const source = await parts.bus.busSource(kernel, port, { ...own, ...seals, onError: parts.onError });
    return () => source.close();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return parts.fail(path, reason, "Start a kernel that serves the tool.");
  }
}

async function openServer(
  kernel: Kernel,
  port: BusPort,
  entry: BusEntry,
  parts: BusParts,
): Promise<() => Promise<void>> {
  const { tools, keys, ...callers } = entry.serve ?? {};
  const { onError } = parts;
  const options = { ...prefixOf(entry), ...(tools && { tools }), ...(keys && { keys }), onError };
  const server = await parts.bus.serveOnBus(kernel, port, { ...options, callers: callersOf(callers, parts) });
  return () => server.close();
}

function callersOf({ everyone, sealed = [] }: NonNullable<BusEntry["serve"]>, parts: BusParts): BusCallers {
  if (everyone !== undefined) return parts.bus.everyCaller({ caller: everyone });
  const pairs = sealed.map(({ caller, ...own }, place) => {
    const credential = credentialOf(own, ["serve", "sealed", place, "key"], parts);
    return [credential, { caller }] as const;
  });
  return parts.bus.sealedCallers(pairs);
}

function credentialOf(
  { id, key }: { readonly id: string; readonly key: { readonly env: string } },
  path: BusPath,
  parts: BusParts,
): BusCredential {
  const value = valueIn(key, path, parts);
  if (!/^[0-9a-f]{64}$/i.test(value))
    parts.fail(path, `The variable ${key.env} is not a key of 32 bytes.`, "Give it 64 hexadecimal digits.");
  return { id, key: Uint8Array.from(value.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16)) };
}

function valueIn({ env }: { readonly env: string }, path: BusPath, { variable, fail }: BusParts): string {
  return variable(env) || fail(path, `The environment variable ${env} is not set.`, "Set it before the start.");
}
