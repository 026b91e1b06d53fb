import { netBroker } from "@keyhole/worker-host/brokers/net";
import { describe, expect, it } from "vitest";
import {
  ask,
  code,
  local,
  origin,
  otherOrigin,
  portOf,
  requests,
  routes,
  server,
  text,
  valueOf,
  useServers,
} from "./net-server.ts";
import { openSession } from "./session.ts";

useServers();

describe("a redirect", () => {
  const redirect = (path: string, location: string, status = 302) =>
    routes.set(path, (_, response) => response.writeHead(status, { location }).end());

  it("is followed where the grant covers its target", async () => {
    redirect("/a", "/b");
    redirect("/b", `${otherOrigin}/c`, 307);
    routes.set("/c", (_, response) => response.end("there"));
    const { reply, session } = await ask(`${origin}/a`);
    expect(text(reply)).toBe("there");
    expect(valueOf(reply)).toMatchObject({ url: `${otherOrigin}/c`, redirected: true });
    expect(session.used.networkRequests).toBe(3);
  });

  it.each([
    ["another host", "http://localhost:PORT/secret"],
    ["the same host in another form", "http://[::ffff:127.0.0.1]:PORT/secret"],
    ["another port", "http://127.0.0.1:9/secret"],
    ["another scheme", "file:///etc/passwd"],
    ["data", "data:text/plain,secret"],
    ["credentials", "http://user:password@127.0.0.1:PORT/secret"],
    ["what is no URL", "http://"],
  ])("is not followed to %s", async (_, location) => {
    redirect("/a", location.replace("PORT", String(portOf(server))));
    const { reply } = await ask(`${origin}/a`);
    expect(reply).toMatchObject({ ok: false, error: { message: expect.stringContaining("redirect") as string } });
    expect(requests.map(({ path }) => path)).toEqual(["/a"]);
  });

  it("is not followed to a path outside the grant", async () => {
    redirect("/open/a", "/secret");
    const { reply } = await ask(`${origin}/open/a`, { grants: local({ paths: ["/open"] }) });
    expect(code(reply)).toBe("CAPABILITY_DENIED");
    expect(requests).toHaveLength(1);
  });

  it("is not followed for ever", async () => {
    redirect("/a", "/a");
    expect((await ask(`${origin}/a`)).reply).toMatchObject({
      ok: false,
      error: { code: "UNAVAILABLE", message: expect.stringContaining("more than 10 times") as string },
    });
    expect(requests).toHaveLength(11);
  });

  it("counts as a request", async () => {
    redirect("/a", "/a");
    const { reply } = await ask(`${origin}/a`, { networkRequests: 3 });
    expect(code(reply)).toBe("BOUNDS_EXCEEDED");
    expect(requests).toHaveLength(3);
  });

  it("keeps what it was sent on the same origin, and little of it on another", async () => {
    const headers = [
      ["Authorization", "Bearer secret"],
      ["Cookie", "a=b"],
      ["X-Api-Key", "secret"],
      ["X-Other", "other"],
    ] as const;
    redirect("/a", "/b");
    redirect("/b", `${otherOrigin}/c`);
    redirect("/c", `${origin}/d`);
    routes.set("/d", (_, response) => response.end());
    await ask(`${origin}/a`, { headers });
    const seen = requests.map((request) => [
      request.headers.authorization,
      request.headers.cookie,
      request.headers["x-api-key"],
      request.headers["x-other"],
    ]);
    const all = ["Bearer secret", "a=b", "secret", "other"];
    const none = [undefined, undefined, undefined, undefined];
    expect(seen).toEqual([all, all, none, none]);
  });

  it.each([
    [301, "GET", ""],
    [302, "GET", ""],
    [303, "GET", ""],
    [307, "POST", "data"],
    [308, "POST", "data"],
  ])("of status %i turns POST into %s", async (status, method, body) => {
    redirect("/a", "/b", status);
    routes.set("/b", (_, response) => response.end());
    await ask(`${origin}/a`, { method: "POST", body: "data", headers: [["Content-Type", "text/x"]] });
    expect(requests[1]).toMatchObject({ method, body });
    expect(requests[1]!.headers["content-type"]).toBe(method === "GET" ? undefined : "text/x");
  });

  it("that turns a write into a read needs the grant of a read", async () => {
    redirect("/a", "/b", 303);
    const { reply } = await ask(`${origin}/a`, {
      method: "POST",
      body: "",
      grants: local().filter(({ kind }) => kind === "net.write"),
    });
    expect(code(reply)).toBe("CAPABILITY_DENIED");
    expect(requests).toHaveLength(1);
  });

  it("whose target the platform hides is refused", async () => {
    const hidden = netBroker({
      fetch: async () => Object.defineProperty(new Response(null), "type", { value: "opaqueredirect" }),
    });
    const reply = await hidden.serve(
      { kind: "net.read", operation: "fetch", arguments: { url: `${origin}/` } },
      openSession({ grants: local() }),
    );
    expect(reply).toMatchObject({
      ok: false,
      error: { code: "UNAVAILABLE", message: expect.stringContaining("does not say where to") as string },
    });
  });

  it("without a target is a response", async () => {
    routes.set("/a", (_, response) => response.writeHead(302).end("nowhere"));
    expect(text((await ask(`${origin}/a`)).reply)).toBe("nowhere");
  });
});
