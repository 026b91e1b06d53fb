import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { expect, it } from "vitest";
import { listen } from "../../packages/mcp/src/node/listen.ts";
import { collectGarbage } from "../support/held-memory.ts";

it("tells a handler that its client left, also one that holds the signal alone", async () => {
  let heard = 0;
  const cancelled = Promise.withResolvers<void>();
  const start = (stream: ReadableStreamDefaultController): void => stream.enqueue(new Uint8Array(1));
  const serving = await listen(
    async ({ signal }) => {
      signal.addEventListener("abort", () => heard++);
      return new Response(new ReadableStream({ start, cancel: cancelled.resolve }));
    },
    { port: 0, address: "127.0.0.1" },
  );
  const socket = connect(Number(new URL(serving.origin).port), "127.0.0.1");
  socket.write("GET / HTTP/1.1\r\nhost: localhost\r\n\r\n");
  await once(socket, "data");
  await collectGarbage();
  socket.destroy();
  await cancelled.promise;
  expect(heard).toBe(1);
  await serving.close();
});

it("ends the answer that a client does not read, and no stream without news", async () => {
  const ended = { large: Promise.withResolvers<void>(), silent: Promise.withResolvers<void>() };
  let isSilentOpen = true;
  void ended.silent.promise.then(() => (isSilentOpen = false));
  const silent = (): ReadableStream => new ReadableStream({ start: (stream) => stream.enqueue(new Uint8Array(1)) });
  const serving = await listen(
    async ({ url, signal }) => {
      const isLarge = url.endsWith("/large");
      signal.addEventListener("abort", () => ended[isLarge ? "large" : "silent"].resolve());
      return new Response(isLarge ? new Uint8Array(64 << 20) : silent());
    },
    { port: 0, address: "127.0.0.1", unreadMs: 50 },
  );
  const ask = async (path: string): Promise<Socket> => {
    const socket = connect(Number(new URL(serving.origin).port), "127.0.0.1");
    socket.on("error", () => {}).pause();
    await once(socket, "connect");
    socket.write(`GET ${path} HTTP/1.1\r\nhost: localhost\r\n\r\n`);
    return socket;
  };
  const quiet = await ask("/silent");
  quiet.resume();
  await once(quiet, "data");
  const unread = await ask("/large");
  await ended.large.promise;
  expect(isSilentOpen).toBe(true);
  for (const socket of [quiet, unread]) socket.destroy();
  await serving.close();
});
