import { netBroker } from "@keyhole/worker-host/brokers/net";
import { expect, it } from "vitest";
import { openSession } from "./session.ts";

const session = () => openSession({ grants: [{ kind: "net.write", hosts: ["example.com"] }] });
const request = {
  kind: "net.write",
  operation: "fetch",
  arguments: { url: "https://example.com/", method: "POST", headers: [["x-ask", "why"]] },
  body: new TextEncoder().encode("data"),
} as const;

it("asks in a form that this platform takes", async () => {
  const broker = netBroker({
    async fetch(url, init) {
      // The platform checks here what it would check in `fetch`: it throws for fields that it does not have.
      const asked = new Request(url, init);
      return new Response(`${asked.method} ${asked.headers.get("x-ask")} ${asked.redirect} ${await asked.text()}`);
    },
  });
  const reply = await broker.serve(request, session());
  expect(reply.ok && new TextDecoder().decode(reply.body)).toBe("POST why manual data");
});

it("sees redirects, and checks them", async () => {
  const broker = netBroker({ fetch: async () => Response.redirect("https://example.org/", 307) });
  expect(await broker.serve(request, session())).toMatchObject({
    ok: false,
    error: { code: "CAPABILITY_DENIED", message: expect.stringContaining("redirect") as string },
  });
});
