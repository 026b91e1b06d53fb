import { type Kernel, pointerOf } from "@keyhole/kernel";
import type { BusCallers, BusCredential, BusPort } from "@keyhole/bus";
import type { BusEntry } from "../../config/sections/bus.ts";
import type { ConfigFile } from "./load.ts";

type Path = readonly (string | number)[];
type Fail = (path: Path, message: string, hint: string) => never;

interface BusParts {
  readonly bus: typeof import("@keyhole/bus");
  readonly nats: typeof import("@nats-io/transport-node");
}

/**
 * Joins the bus of a configuration: calls the tools of its sources and, with `serve`, offers those of the kernel. Returns the way to leave, which comes before the kernel is closed.
 *
 * @throws TypeError where the server, a tool or a variable is missing; the message names file and line
 */
export async function joinConfiguredBus(
  kernel: Kernel,
  { config, explain }: ConfigFile,
  { serve }: { readonly serve: boolean },
): Promise<() => Promise<void>> {
  const entry = config.document.bus;
  if (!entry) return async () => {};
  const fail: Fail = (path, message, hint) => {
    throw new TypeError(explain({ path: pointerOf(["bus", ...path]), message, hint }));
  };
  const parts = await busParts(fail);
  const connection = await connected(entry, parts, fail);
  const leaving: (() => Promise<void>)[] = [() => connection.close()];
  const leave = async (): Promise<void> => {
    for (const each of leaving.toReversed()) await each();
  };
  try {
    const port = parts.bus.natsBus(connection, parts.nats.headers);
    for (const open of await opened(kernel, port, entry, parts, serve, fail)) leaving.push(open);
    return leave;
  } catch (error) {
    await leave();
    throw error;
  }
}

/** Both are peers: most configurations have no bus. */
async function busParts(fail: Fail): Promise<BusParts> {
  try {
    const [bus, nats] = await Promise.all([import("@keyhole/bus"), import("@nats-io/transport-node")]);
    return { bus, nats };
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ERR_MODULE_NOT_FOUND")
      return fail([], "The section needs two packages.", "Install @keyhole/bus and @nats-io/transport-node.");
    throw error;
  }
}

async function connected({ servers, user, password, token }: BusEntry, { nats }: BusParts, fail: Fail) {
  const valueOf = (name: "password" | "token", from: BusEntry["token"]): Record<string, string> =>
    from ? { [name === "password" ? "pass" : name]: valueIn(from, [name], fail) } : {};
  const options = {
    servers: [...servers],
    maxReconnectAttempts: -1,
    ...(user !== undefined && { user }),
    ...valueOf("password", password),
    ...valueOf("token", token),
  };
  try {
    return await nats.connect(options);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return fail(["servers"], `No server of NATS took the connection: ${reason}.`, "Start it, or correct the address.");
  }
}

async function opened(
  kernel: Kernel,
  port: BusPort,
  { prefix, serve: offer, sources = {} }: BusEntry,
  { bus }: BusParts,
  serve: boolean,
  fail: Fail,
): Promise<readonly (() => Promise<void>)[]> {
  const common = prefix === undefined ? {} : { prefix };
  const closes: (() => Promise<void>)[] = [];
  for (const [name, { credential, ...own }] of Object.entries(sources)) {
    const path = ["sources", name];
    const seals = credential && { credential: credentialOf(credential, [...path, "credential", "key"], fail) };
    try {
      const source = await bus.busSource(kernel, port, { ...common, ...own, ...seals, name });
      closes.push(() => source.close());
    } catch (error) {
      fail(path, error instanceof Error ? error.message : String(error), "Start a kernel that serves the tool.");
    }
  }
  if (!serve || !offer) return closes;
  const { tools, keys } = offer;
  const options = { ...common, ...(tools && { tools }), ...(keys && { keys }) };
  const server = await bus.serveOnBus(kernel, port, { ...options, callers: callersOf(offer, bus, fail) });
  return [...closes, () => server.close()];
}

function callersOf(
  { everyone, sealed = [] }: NonNullable<BusEntry["serve"]>,
  bus: BusParts["bus"],
  fail: Fail,
): BusCallers {
  if (everyone !== undefined) return bus.everyCaller({ caller: everyone });
  const pairs = sealed.map(({ caller, ...own }, place) => {
    const credential = credentialOf(own, ["serve", "sealed", place, "key"], fail);
    return [credential, { caller }] as const;
  });
  return bus.sealedCallers(pairs);
}

function credentialOf(
  { id, key }: { readonly id: string; readonly key: { readonly env: string } },
  path: Path,
  fail: Fail,
): BusCredential {
  const value = valueIn(key, path, fail);
  if (!/^[0-9a-f]{64}$/i.test(value))
    fail(path, `The variable ${key.env} is not a key of 32 bytes.`, "Give it 64 hexadecimal digits.");
  return { id, key: Uint8Array.from(value.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16)) };
}

function valueIn({ env }: { readonly env: string }, path: Path, fail: Fail): string {
  return process.env[env] || fail(path, `The environment variable ${env} is not set.`, "Set it before the start.");
}
