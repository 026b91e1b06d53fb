import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it } from "vitest";
import { pageFindings } from "../../packages/keyhole/src/command/page-policy.ts";

it("reads only the head of a page: it may have no end, and tags that never close", async () => {
  const head = '<meta http-equiv="Content-Security-Policy" content="default-src *">';
  const ended = Promise.withResolvers<void>();
  const server = createServer((_, response) => {
    response.writeHead(200, { "content-type": "text/html" }).write(head);
    const more = (): void => {
      if (!response.destroyed && response.write("<meta ".repeat(10_000))) setImmediate(more);
    };
    response.on("drain", more).on("close", ended.resolve);
    more();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  try {
    const findings = await pageFindings(`http://127.0.0.1:${port}/`, new AbortController().signal);
    expect(findings.map(({ subject }) => subject)).toContain("worker-src");
    await ended.promise;
  } finally {
    server.close();
  }
});
