import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import type { Send } from "./support.ts";
import { serviceTests, type ServicePlace } from "./service-tests.ts";

/** A real server on this machine. */
async function serve(answer: Send): Promise<ServicePlace> {
  const server = createServer((request, response) => {
    void (async () => {
      const { method = "GET", url = "/" } = request;
      const body = method === "GET" ? undefined : await buffer(request);
      const headers = Object.entries(request.headers).map(([name, value]): [string, string] => [name, String(value)]);
      const reply = await answer(
        new Request(new URL(url, "http://127.0.0.1"), {
          method,
          headers,
          ...(body?.length && { body: new Uint8Array(body) }),
        }),
      );
      response.writeHead(reply.status, Object.fromEntries(reply.headers));
      if (reply.body)
        Readable.fromWeb(reply.body as Parameters<typeof Readable.fromWeb>[0])
          .on("error", () => {})
          .pipe(response);
      else response.end();
    })();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    send: (request) => fetch(request),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

serviceTests("HTTP", serve);
