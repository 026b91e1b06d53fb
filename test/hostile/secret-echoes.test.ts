import type { OpenSecrets } from "@keyhole/kernel";
import { secretKeeper } from "@keyhole/kernel/secrets";
import { afterEach, describe, expect, it } from "vitest";
import { type EchoBench, echoed, type EchoServer, openEcho, policyWith, reading } from "../support/echo-server.ts";
import { anyCall, stands, valueOf } from "../support/open-secrets.ts";
import { rowsIn } from "../support/secret-encodings.ts";

/*
 * A server that was told a secret stores it, and answers with it later: to another call, another tool, another caller, another kernel.
 */

const value = "canary-7F3a/9c1e";
const store = { get: (name: string) => (name === "key" ? value : undefined) };

let bench: EchoBench | undefined;
afterEach(async () => {
  const rows = rowsIn((await bench?.shown()) ?? "", value);
  if (rows.length > 0) throw new Error(`Shown in ${rows.join()}.`);
});

describe("a secret that a server stored before the kernel was started", () => {
  const open = async (answer: EchoServer["answer"] = echoed): Promise<EchoBench> =>
    (bench = await openEcho({ stored: value, answer }, store));

  it.each([
    ["a tool that may use it", "user", {}],
    ["a tool that may not use it", "reader", {}],
    ["a caller that narrows the grant for secrets away", "user", { grants: [...reading] }],
    ["a tool that asks through another tool", "outer", { caller: "grace" }],
  ])("is not in the answer to %s", async (_, tool, options) => {
    const { hear } = await open();
    expect(await hear(tool, {}, options)).toContain("It is *keyhole-secret*.");
  });

  it("is not in the answer to a call whose grant for secrets was revoked", async () => {
    const { kernel, hear } = await open();
    await kernel.grants.revoke({ tool: "user", kinds: ["secret.use"] }, "Enough.");
    expect(await hear("user")).toContain("It is *keyhole-secret*.");
  });

  it("is not in the address of a redirect to another host", async () => {
    const urls: string[] = [];
    const { hear } = await open((secret, to) => {
      urls.push(to);
      return to.startsWith("https://api.")
        ? new Response(null, { status: 302, headers: { location: `https://www.example.net/?k=${secret}` } })
        : new Response(`You sent ${to}.`);
    });
    const heard = await hear("reader");
    expect(heard).toContain("You sent https://www.example.net/?k=");
    expect(urls).toHaveLength(2);
    expect(rowsIn(urls.join(), value)).toEqual([]);
  });

  it("is not in a redirect that is refused", async () => {
    const location = `https://${value.slice(0, 11)}.example.org/${value}`;
    const { hear } = await open(() => new Response(null, { status: 302, headers: { location } }));
    expect(await hear("reader")).toContain("CAPABILITY_DENIED");
  });

  it("is not in the answer of the host to which a redirect leads", async () => {
    const { hear } = await open((secret, to) =>
      to.startsWith("https://api.")
        ? new Response(`It is ${secret}.`)
        : new Response(null, { status: 302, headers: { location: "https://api.example.com/note" } }),
    );
    expect(await hear("reader", { url: "https://www.example.net/" })).toContain("It is *keyhole-secret*.");
  });

  it("is not in the answer of a second host, to which the first one told it in the same call", async () => {
    const { kernel, hear } = await open();
    await hear("reader");
    // The kernel remembers it now, whichever host answers.
    expect(await hear("reader", { url: "https://www.example.net/" })).toContain("It is *keyhole-secret*.");
    expect(kernel.mode).toBe("NORMAL");
  });

  it("is not in the message of a failed request", async () => {
    const { hear } = await open((secret) => {
      throw new Error(`bad header: ${secret}`);
    });
    expect(await hear("reader")).toBe("UNAVAILABLE: api.example.com cannot be reached: bad header: *keyhole-secret*.");
  });

  it("is not in the name of a header, which the platform puts into lower case", async () => {
    const token = "Canary-7F3a-9c1E";
    bench = await openEcho({ stored: "", answer: () => new Response("", { headers: { [`x-${token}`]: "1" } }) }, { get: () => token }); // prettier-ignore
    expect(await bench.hear("reader")).toContain('["x-*keyhole-secret*","1"]');
    expect(rowsIn(await bench.shown(), token)).toEqual([]);
  });

  it.each(["Range", "X-MS-Range", "Request_Range", "If-Range"])(
    "is not given out in parts that a tool chooses by the header %s",
    async (name) => {
      let isAsked = false;
      const { hear } = await open((secret) => {
        isAsked = true;
        return new Response(secret.slice(0, 8), { status: 206 });
      });
      const heard = await hear("reader", { headers: { [name]: "bytes=0-7" } });
      expect(heard).toMatch(/^CAPABILITY_DENIED: A tool cannot request a part of an answer of api\.example\.com/);
      expect(isAsked).toBe(false);
    },
  );

  it("lets a tool choose parts at a host where no secret is granted", async () => {
    const { hear } = await open(() => new Response("a part", { status: 206 }));
    expect(await hear("reader", { url: "https://www.example.net/", headers: { range: "bytes=0-7" } })).toContain(
      "a part",
    );
  });

  it("is not in a body that is no text", async () => {
    const noise = Uint8Array.from({ length: 256 }, (_, byte) => byte);
    const { hear } = await open((secret) => new Response(Buffer.concat([noise, Buffer.from(secret), noise])));
    expect(await hear("reader")).toContain("*keyhole-secret*");
  });
});

describe("a secret that this kernel used", () => {
  it("is not in an answer after hundreds of other secrets were used", async () => {
    const keeper = secretKeeper({ get: (name) => (name === "key" ? value : `value-of-${name}`) });
    const call = (): OpenSecrets => keeper.open({ ...anyCall, granted: () => ["key"] });
    await call().reveal(stands, "api.example.com");
    for (let index = 0; index < 300; index++)
      await call().reveal(`keyhole-secret.${anyCall.token}.other-${index}.`, "api.example.com");
    expect(await valueOf(call().redact(`It is ${value}.`))).toBe("It is *keyhole-secret*.");
  });

  it("is not in an answer after it was rotated, and neither is the new one", async () => {
    const server: EchoServer = { stored: "", answer: echoed };
    let current: string | undefined = value;
    bench = await openEcho(server, { get: () => current });
    await bench.hear("poster");
    expect(server.stored).toBe(value);
    current = "another-value-2b";
    expect(await bench.hear("reader")).toContain("It is *keyhole-secret*.");
    server.stored = current;
    expect(await bench.hear("reader")).toContain("It is *keyhole-secret*.");
    current = undefined;
    expect(await bench.hear("reader")).toContain("It is *keyhole-secret*.");
  });

  it("is not in an answer after the policy was changed and grants it to nobody", async () => {
    bench = await openEcho({ stored: "", answer: echoed }, store);
    await bench.hear("poster");
    await bench.kernel.setPolicy(policyWith("other"));
    expect(await bench.hear("reader")).toContain("It is *keyhole-secret*.");
  });
});
