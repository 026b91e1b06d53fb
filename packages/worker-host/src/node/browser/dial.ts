import { lookup } from "node:dns/promises";
import { once } from "node:events";
import { connect as connectTcp } from "node:net";
import type { Duplex } from "node:stream";
import { connect as connectTls } from "node:tls";
import { parseUrl } from "@keyhole/kernel";
import { classifyAddress } from "../../brokers/net/addresses.ts";

/** Where a connection goes: an address that was checked. */
export interface DialedPlace {
  /** An IP address, without brackets. */
  readonly address: string;
  readonly port: number;
  /** The name that the page asked for. */
  readonly host: string;
  readonly isSecure: boolean;
  readonly signal: AbortSignal;
}

/** How a page reaches the network. */
export interface PageNetwork {
  /** The addresses of a name. Default: the system's resolver. */
  readonly resolve?: (host: string) => Promise<readonly string[]>;
  /** Opens a connection, through TLS where it is secure. Default: of this machine. */
  readonly connect?: (place: DialedPlace) => Promise<Duplex>;
}

export type Dial = (url: URL) => Promise<Duplex>;

/** Why the proxy does not dial a name. */
export class AddressRefused extends Error {
  override readonly name = "AddressRefused";
}

/**
 * Resolves each name once and pins its addresses: the proxy dials the address that it checked. A name with one address of a private network or another
 * special use has none that is dialed.
 */
export function dialer({ resolve = resolveBySystem, connect = connectHere }: PageNetwork, signal: AbortSignal): Dial {
  const pinned = new Map<string, Promise<readonly string[]>>();
  const addressesOf = (host: string): Promise<readonly string[]> => {
    // Only exactly this address grants an address: no wildcard reaches it.
    if (classifyAddress(host)) return Promise.resolve([host.replace(/^\[|\]$/g, "")]);
    const known = pinned.get(host) ?? resolve(host).then((found) => checked(host, found));
    pinned.set(host, known);
    return known;
  };
  return async (url) => {
    const host = url.hostname;
    const isSecure = url.protocol === "https:";
    const port = url.port === "" ? (isSecure ? 443 : 80) : Number(url.port);
    let failure: Error = new AddressRefused(`${host} has no address`);
    for (const address of (await addressesOf(host)).slice(0, 4)) {
      signal.throwIfAborted();
      try {
        return await connect({ address, port, host, isSecure, signal });
      } catch (error) {
        failure = error instanceof Error ? error : new Error("the connection failed");
      }
    }
    throw failure;
  };
}

function checked(host: string, addresses: readonly string[]): readonly string[] {
  for (const address of addresses) {
    const canonical = parseUrl(`http://${address.includes(":") ? `[${address}]` : address}/`)?.hostname;
    const known = canonical === undefined ? undefined : classifyAddress(canonical);
    if (!known) throw new AddressRefused(`${host} resolves to something that is no address`);
    if (known.special !== undefined)
      throw new AddressRefused(`${host} resolves to an address that is not public: ${known.special}`);
  }
  return addresses;
}

async function resolveBySystem(host: string): Promise<readonly string[]> {
  return (await lookup(host, { all: true, order: "ipv4first" })).map(({ address }) => address);
}

async function connectHere({ address, port, host, isSecure, signal }: DialedPlace): Promise<Duplex> {
  const socket = connectTcp({ host: address, port, signal });
  await once(socket, "connect", { signal });
  if (!isSecure) return socket;
  const isName = classifyAddress(host) === undefined;
  const secure = connectTls({
    socket,
    ALPNProtocols: ["http/1.1"],
    ...(isName ? { servername: host } : { host: address }),
  });
  await once(secure, "secureConnect", { signal });
  return secure;
}
