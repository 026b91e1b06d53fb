import * as bus from "@keyhole/bus";
import { pointerOf } from "@keyhole/kernel";
import {
  busConnectOptions,
  type BusConnectOptions,
  type BusParts,
  isOverWebSocket,
  openOnBus,
} from "@keyhole/worker-host/config";
import { Misconfigured } from "../app/problem.ts";
import type { BusPart } from "../object/joined-bus.ts";

/** The used part of `@nats-io/nats-core`. */
export interface NatsClient<Headers extends bus.NatsHeaders> {
  readonly wsconnect: (
    options: BusConnectOptions,
  ) => Promise<bus.NatsLike<Headers> & { readonly close: () => Promise<void> }>;
  readonly headers: () => Headers;
}

/**
 * Joins the bus of a configuration over the WebSocket transport of NATS. The kernel of the tenant `default` joins, and no other: the bus knows no tenants.
 *
 * @example
 * import { headers, wsconnect } from "@nats-io/nats-core";
 * const Configured: KernelObjectClass = kernelObject({ config, tools: [], policy, bus: edgeBus({ wsconnect, headers }) });
 */
export function edgeBus<Headers extends bus.NatsHeaders>({ wsconnect, headers }: NatsClient<Headers>): BusPart {
  return async (kernel, entry, env) => {
    const variables = new Map<string, unknown>(Object.entries(env));
    const parts: BusParts = {
      bus,
      variable(name) {
        const value = variables.get(name);
        return typeof value === "string" ? value : undefined;
      },
      fail(path, message, hint) {
        const place = pointerOf(["bus", ...path]);
        throw new Misconfigured(
          `The configuration is invalid at ${place}. ${message} ${hint}`,
          "The edge cannot join the bus.",
        );
      },
      // oxlint-disable-next-line no-console -- a Worker has no other place for its operator
      onError: ({ message }) => console.error(message),
    };
    if (!isOverWebSocket(entry, parts))
      parts.fail(["servers"], "A Worker reaches NATS over WebSocket only.", "Use addresses of ws or wss.");
    const connection = await wsconnect(busConnectOptions(entry, parts)).catch((error: unknown) => {
      const reason = error instanceof Error ? error.message : String(error);
      return parts.fail(["servers"], `No server of NATS took the connection: ${reason}.`, "Correct the address.");
    });
    try {
      await openOnBus(kernel, bus.natsBus(connection, headers), entry, { ...parts, serve: true });
    } catch (error) {
      await connection.close();
      throw error;
    }
  };
}
