import { createSocket, type Socket as UdpSocket } from "node:dgram";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type AddressInfo, connect, createServer as createTcpServer, type Server as TcpServer } from "node:net";
import type { BrokerReply, Capability, JsonObject, JsonValue } from "@keyhole/kernel";
import { browserBroker, type BrowserBrokerOptions, type DialedPlace } from "@keyhole/worker-host/node/browser";
import { openSession, type SessionOptions, type TestSession } from "./session.ts";

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** Public addresses, by names that the grants of the tests know; what a resolver says of others is no loopback either. */
const publicAddress = "93.184.215.14";

/** A small web behind a resolver of its own, and places that no page may reach. */
export interface PageWorld {
  /** By host and path: `shop.example.com/`. */
  readonly routes: Map<string, Handler>;
  /** Addresses by name; others have a public one. */
  readonly addresses: Map<string, () => readonly string[]>;
  /** Requests that arrived, as `GET shop.example.com/`. */
  readonly arrived: string[];
  /** For a browser that is in this web. */
  readonly options: BrowserBrokerOptions;
  /** Addresses that were dialed. */
  readonly dialed: DialedPlace[];
  /** Connections and datagrams that arrived where nobody may go. */
  readonly strays: string[];
  /** Ports of loopback: one of TCP, one of UDP. */
  readonly canaries: { readonly tcp: number; readonly udp: number };
  page(host: string, html: string, headers?: Readonly<Record<string, string>>): void;
  open(args: JsonObject, more?: Options): Promise<Visited>;
  close(): void;
}

interface Options extends Partial<SessionOptions> {
  readonly capability?: Partial<Extract<Capability, { kind: "browser.page" }>>;
}

export interface Visited {
  readonly reply: BrokerReply;
  readonly session: TestSession;
  readonly value: Readonly<Record<string, JsonValue>>;
}

/** @param sandbox whether this machine has one differs: a container can forbid it */
export async function pageWorld(sandbox: "required" | "off" = "off"): Promise<PageWorld> {
  const routes = new Map<string, Handler>();
  const addresses = new Map<string, () => readonly string[]>();
  const [arrived, dialed, strays]: [string[], DialedPlace[], string[]] = [[], [], []];
  const server = createServer((request, response) => {
    const place = `${request.headers.host ?? ""}${(request.url ?? "").replace(/\?.*$/s, "")}`;
    arrived.push(`${request.method} ${place}`);
    const route = routes.get(place);
    if (route) route(request, response);
    else response.writeHead(404).end();
  });
  server.on("upgrade", (request, socket) => {
    arrived.push(`WEBSOCKET ${request.headers.host}${request.url}`);
    socket.destroy();
  });
  await listening(server);
  const { tcp, udp } = await openCanaries(strays);
  const options: BrowserBrokerOptions = {
    sandbox,
    network: {
      resolve: async (host) => addresses.get(host)?.() ?? [publicAddress],
      async connect(place) {
        dialed.push(place);
        const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
        await once(socket, "connect");
        return socket;
      },
    },
  };
  const broker = browserBroker(options);
  return {
    options,
    routes,
    addresses,
    arrived,
    dialed,
    strays,
    canaries: { tcp: (tcp.address() as AddressInfo).port, udp: udp.address().port },
    page: (host, html, headers = {}) =>
      routes.set(`${host}/`, (_, response) =>
        response.writeHead(200, { "content-type": "text/html;charset=utf-8", ...headers }).end(html),
      ),
    async open(args, { capability, ...more } = {}) {
      const granted: Capability = { kind: "browser.page", hosts: ["*.example.com"], ...capability };
      const session = openSession({ grants: [granted], networkBytes: 4 << 20, ...more });
      const request = { kind: "browser.page", operation: "open", arguments: { waitMs: 3_000, ...args } };
      const reply = await broker.serve(request, session);
      return { reply, session, value: reply.ok ? (reply.value as Readonly<Record<string, JsonValue>>) : {} };
    },
    close() {
      server.closeAllConnections();
      server.close();
      tcp.close();
      udp.close();
    },
  };
}

/** Both tell each time that something arrives. */
async function openCanaries(strays: string[]): Promise<{ readonly tcp: TcpServer; readonly udp: UdpSocket }> {
  const tcp = createTcpServer((socket) => {
    strays.push("tcp");
    socket.destroy();
  });
  await listening(tcp);
  const udp: UdpSocket = createSocket("udp4").on("message", () => strays.push("udp"));
  udp.bind(0, "127.0.0.1");
  await once(udp, "listening");
  return { tcp, udp };
}

async function listening(server: TcpServer): Promise<void> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
}
