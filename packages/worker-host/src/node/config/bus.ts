import { type Kernel, pointerOf, visible } from "@keyhole/kernel";
import { busConnectOptions, type BusParts, isOverWebSocket, openOnBus } from "../../config/join-bus.ts";
import type { BusEntry } from "../../config/sections/bus.ts";
import type { ConfigFile } from "./load.ts";

type Nats = typeof import("@nats-io/transport-node");

/**
 * Joins the bus of a configuration: calls the tools of its sources and, with `serve`, offers those of the kernel. Returns the way to leave, which comes before the kernel is closed.
 *
 * @throws TypeError where the server, a tool or a variable is missing; the message names file and line
 */
export async function joinConfiguredBus(
  kernel: Kernel,
  { config, explain }: ConfigFile,
  { serve, onError = warn }: { readonly serve: boolean; readonly onError?: (error: Error) => void },
): Promise<() => Promise<void>> {
  const entry = config.document.bus;
  if (!entry) return async () => {};
  const fail: BusParts["fail"] = (path, message, hint) => {
    throw new TypeError(explain({ path: pointerOf(["bus", ...path]), message, hint }));
  };
  const { bus, nats } = await libraries(fail);
  const parts: BusParts = { bus, fail, onError, variable: (name) => process.env[name] };
  const connection = await connected(entry, nats, parts);
  const leaving: (() => Promise<void>)[] = [() => connection.close()];
  const leave = async (): Promise<void> => {
    for (const each of leaving.toReversed()) await each();
  };
  try {
    const port = bus.natsBus(connection, nats.headers);
    for (const open of await openOnBus(kernel, port, entry, { ...parts, serve })) leaving.push(open);
    return leave;
  } catch (error) {
    await leave();
    throw error;
  }
}

/** A bus that brings no calls any more looks like one without callers. */
function warn({ message }: Error): void {
  process.emitWarning(visible(message), "KeyholeBusWarning");
}

/** Both are peers: most configurations have no bus. */
async function libraries(fail: BusParts["fail"]): Promise<{ readonly bus: BusParts["bus"]; readonly nats: Nats }> {
  try {
    const [bus, nats] = await Promise.all([import("@keyhole/bus"), import("@nats-io/transport-node")]);
    return { bus, nats };
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ERR_MODULE_NOT_FOUND")
      return fail([], "The section needs two packages.", "Install @keyhole/bus and @nats-io/transport-node.");
    throw error;
  }
}

async function connected(entry: BusEntry, nats: Nats, parts: BusParts) {
  const options = busConnectOptions(entry, parts);
  const connect = isOverWebSocket(entry, parts) ? nats.wsconnect : nats.connect;
  try {
    return await connect(options);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const hint = "Start it, or correct the address.";
    return parts.fail(["servers"], `No server of NATS took the connection: ${reason}.`, hint);
  }
}
