import { netBroker } from "@keyhole/worker-host/brokers/net";
import { expect, it } from "vitest";
import { openSession } from "./session.ts";

const here = new URL(location.href);
const session = (port: number) =>
  openSession({ grants: [{ kind: "net.read", hosts: [here.hostname], ports: [port] }] });
const ask = (url: string, port: number) =>
  netBroker().serve({ kind: "net.read", operation: "fetch", arguments: { url } }, session(port));

it("asks with the platform's fetch", async () => {
  const reply = await ask(`${here.origin}/test/brokers/session.ts`, Number(here.port));
  expect(reply).toMatchObject({ ok: true, value: { status: 200, redirected: false } });
  expect(reply.ok && new TextDecoder().decode(reply.body)).toContain("openSession");
});

it("lends a tool nothing of the page: no cookie, no referrer, no cache", async () => {
  document.cookie = "session=of-the-page";
  const sent: Request[] = [];
  const broker = netBroker({
    fetch: async (url, init) => {
      sent.push(new Request(url, init));
      return new Response("ok");
    },
  });
  const url = `${here.origin}/`;
  await broker.serve({ kind: "net.read", operation: "fetch", arguments: { url } }, session(Number(here.port)));
  const [{ credentials, referrerPolicy, cache, mode, redirect } = new Request(url)] = sent;
  expect({ credentials, referrerPolicy, cache, mode, redirect }).toEqual({
    credentials: "omit",
    referrerPolicy: "no-referrer",
    cache: "no-store",
    mode: "cors",
    redirect: "manual",
  });
});

it("says that CORS may be what stands in the way", async () => {
  expect(await ask(`http://${here.hostname}:8769/`, 8769)).toMatchObject({
    ok: false,
    error: { code: "UNAVAILABLE", message: expect.stringContaining("(CORS)") as string },
  });
});
