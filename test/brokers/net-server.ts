import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Capability, BrokerReply, JsonObject } from "@keyhole/kernel";
import { netBroker } from "@keyhole/worker-host/brokers/net";
import { afterAll, beforeAll, beforeEach } from "vitest";
import { openSession, type SessionOptions } from "./session.ts";

type Handler = (request: IncomingMessage, response: ServerResponse, body: string) => void;

/** What the server got, in order. */
export let requests: {
  readonly path: string;
  readonly method: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}[] = [];
export const routes = new Map<string, Handler>();
export let server: Server;
let other: Server;
export let origin: string;
export let otherOrigin: string;

export async function listen(): Promise<Server> {
  const started = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (chunk: string) => (body += chunk));
    request.on("end", () => {
      const path = request.url!.split("?")[0]!;
      requests.push({ path, method: request.method!, headers: request.headers, body });
      const route = routes.get(path);
      if (route) route(request, response, body);
      else response.writeHead(404).end();
    });
  }).listen(0, "127.0.0.1");
  await once(started, "listening");
  return started;
}

export const portOf = (each: Server): number => (each.address() as AddressInfo).port;

/** Two servers for the tests of one file; call it once, at the top. */
export function useServers(): void {
  beforeAll(async () => {
    [server, other] = await Promise.all([listen(), listen()]);
    origin = `http://127.0.0.1:${portOf(server)}`;
    otherOrigin = `http://127.0.0.1:${portOf(other)}`;
  });
  afterAll(() => {
    for (const each of [server, other]) {
      each.closeAllConnections();
      each.close();
    }
  });
  beforeEach(() => {
    requests = [];
    routes.clear();
  });
}

/** Beside the ordinary ones. */
const sentHeaders = ["cookie", "x-api-key", "x-ask", "x-key", "x-other"];

export const broker = netBroker();
export const local = (more: Partial<Capability> = {}): readonly Capability[] =>
  (["net.read", "net.write"] as const).map(
    (kind) =>
      ({
        kind,
        hosts: ["127.0.0.1"],
        ports: [portOf(server), portOf(other)],
        headers: sentHeaders,
        ...more,
      }) as Capability,
  );

interface Asked extends SessionOptions {
  readonly method?: string;
  readonly headers?: readonly (readonly [string, string])[];
  readonly body?: string;
}

export async function ask(url: string, { method = "GET", headers = [], body, ...options }: Asked = {}) {
  const session = openSession({ grants: local(), ...options });
  const kind = method === "GET" || method === "HEAD" ? ("net.read" as const) : ("net.write" as const);
  const request = {
    kind,
    operation: "fetch",
    arguments: { url, method, headers: headers.map((pair) => [...pair]) } as JsonObject,
  };
  const reply = await broker.serve(
    body === undefined ? request : { ...request, body: new TextEncoder().encode(body) },
    session,
  );
  return { reply, session };
}

export const text = (reply: BrokerReply): string => new TextDecoder().decode(reply.ok ? reply.body : undefined);
export const valueOf = (reply: BrokerReply) =>
  (reply.ok ? reply.value : reply.error) as {
    status: number;
    url: string;
    redirected: boolean;
    headers: [string, string][];
  };
export const code = (reply: BrokerReply): string => (reply.ok ? "ok" : reply.error.code);
