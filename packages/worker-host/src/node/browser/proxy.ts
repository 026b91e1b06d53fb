import { randomBytes, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { createSecureContext, type SecureContext, TLSSocket } from "node:tls";
import { parseUrl } from "@keyhole/kernel";
import { pageCertificate } from "./certificate.ts";
import type { Dial } from "./dial.ts";
import { forward, type ForwardPort, forwardSocket } from "./forward.ts";
import type { PageRules } from "./rules.ts";

/** The only way out of one browser. */
export interface PageProxy {
  readonly port: number;
  readonly user: string;
  readonly password: string;
  /** Of the key that it shows in TLS. */
  readonly keyHash: string;
  /** Answers only who has the credentials, and reaches nothing. Its host also takes what Chromium asks for by itself. */
  readonly greeting: string;
  /** Whether a browser asked for it with the credentials. */
  readonly isGreeted: () => boolean;
  close(): void;
}

/**
 * A proxy on loopback that sees each request of a page whole, those in TLS included: the browser
 * trusts its key for this one visit. It sends an admitted request over its own connection, after a
 * check of the address and the certificate. Anything but HTTP and WebSockets ends at it.
 */
export async function openProxy(rules: PageRules, dial: Dial): Promise<PageProxy> {
  const { key, cert, keyHash } = pageCertificate();
  const [user, password] = [randomBytes(16).toString("hex"), randomBytes(32).toString("hex")];
  const greeting = `http://${randomBytes(16).toString("hex")}.invalid/`;
  const expected = Buffer.from(`Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`);
  const isKnown = ({ headers }: IncomingMessage): boolean => {
    const given = Buffer.from(headers["proxy-authorization"] ?? "");
    return given.byteLength === expected.byteLength && timingSafeEqual(given, expected);
  };
  let wasGreeted = false;
  const open = new Set<Duplex>();
  const keep = (stream: Duplex): void => {
    open.add(stream);
    stream.on("error", () => {});
    stream.on("close", () => open.delete(stream));
  };
  const port = { rules, dial, keep };

  const { inner, enter } = tunnels(port, createSecureContext({ key, cert }));
  const outer = createServer({ maxHeaderSize: 65_536 });
  outer.on("request", (request: IncomingMessage, response: ServerResponse) => {
    if (!isKnown(request)) response.writeHead(407, askForCredentials).end();
    else if (request.url === greeting) {
      wasGreeted = true;
      // With an icon of its own: the browser asks for no other.
      response.writeHead(200, { "content-type": "text/html" }).end('<link rel="icon" href="data:,">');
    } else if (request.url?.startsWith(greeting)) response.writeHead(404).end();
    else void forward(port, request, response, request.url ?? "");
  });
  outer.on("upgrade", (_, socket: Duplex) => socket.destroy());
  outer.on("connect", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    keep(socket);
    if (!isKnown(request)) {
      socket.end(
        `HTTP/1.1 407 Credentials\r\nproxy-authenticate: ${askForCredentials["proxy-authenticate"]}\r\ncontent-length: 0\r\n\r\n`,
      );
      return;
    }
    if (head.byteLength > 0) socket.unshift(head);
    enter(socket, request.url ?? "");
  });
  outer.on("connection", keep);
  await listen(outer);
  return {
    port: (outer.address() as AddressInfo).port,
    user,
    password,
    keyHash,
    greeting,
    isGreeted: () => wasGreeted,
    close() {
      outer.close();
      inner.close();
      for (const each of open) each.destroy();
    },
  };
}

/** Serves CONNECT: HTTP, in TLS or not, and nothing else. */
function tunnels(
  port: ForwardPort,
  secureContext: SecureContext,
): { readonly inner: Server; readonly enter: (socket: Duplex, authority: string) => void } {
  const inner = createServer({ maxHeaderSize: 65_536 });
  const origins = new WeakMap<Duplex, string>();
  const addressOf = (request: IncomingMessage): string =>
    `${origins.get(request.socket) ?? "none:"}${request.url ?? ""}`;
  inner.on("request", (request, response) => void forward(port, request, response, addressOf(request)));
  inner.on("upgrade", (request: IncomingMessage, socket, head: Buffer) => {
    void forwardSocket(port, request, socket, head, addressOf(request));
  });
  const enter = (socket: Duplex, authority: string): void => {
    socket.write("HTTP/1.1 200 Connected\r\n\r\n");
    socket.once("data", (first: Buffer) => {
      socket.pause();
      socket.unshift(first);
      const isTls = first[0] === 0x16;
      const stream = isTls
        ? new TLSSocket(socket, { isServer: true, secureContext, ALPNProtocols: ["http/1.1"] })
        : socket;
      port.keep(stream);
      origins.set(stream, parseUrl(`${isTls ? "https" : "http"}://${authority}`)?.origin ?? "none:");
      inner.emit("connection", stream);
      if (!isTls) socket.resume();
    });
  };
  return { inner, enter };
}

const askForCredentials = { "proxy-authenticate": 'Basic realm="keyhole"' } as const;

async function listen(server: Server): Promise<void> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
}
