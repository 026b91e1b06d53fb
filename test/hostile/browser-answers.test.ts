import { PassThrough } from "node:stream";
import { setImmediate } from "node:timers/promises";
import type { JsonObject } from "@keyhole/kernel";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type PageWorld, pageWorld, type Visited } from "../brokers/page-world.ts";
import { CdpPipe } from "../../packages/worker-host/src/node/browser/cdp.ts";
import { mark, searching } from "../support/open-secrets.ts";
import { sized, thorough } from "../support/size.ts";

let world: PageWorld;
beforeAll(async () => {
  world = await pageWorld();
});
afterAll(() => world.close());
beforeEach(() => world.routes.clear());

const url = "https://shop.example.com/";

/** What a server writes in place of an answer. */
const answers: Readonly<Record<string, string>> = {
  "/000": "HTTP/1.1 000 none\r\ncontent-length: 0\r\n\r\n",
  "/099": "HTTP/1.1 099 low\r\ncontent-length: 0\r\n\r\n",
  "/999": "HTTP/1.1 999 high\r\ncontent-length: 0\r\n\r\n",
  "/101": "HTTP/1.1 101 other\r\nconnection: upgrade\r\nupgrade: other\r\n\r\n",
  "/407": 'HTTP/1.1 407 who\r\nproxy-authenticate: Basic realm="x"\r\ncontent-length: 0\r\n\r\n',
  "/control": "HTTP/1.1 200 ok\r\nx-a: \x01b\r\ncontent-length: 0\r\n\r\n",
  "/long": `HTTP/1.1 200 ok\r\nx-a: ${"a".repeat(70_000)}\r\n\r\n`,
  "/both": "HTTP/1.1 200 ok\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
};

describe("a page whose server answers with what HTTP does not have", () => {
  it("gets 502 for each answer, and the kernel's process goes on", async () => {
    for (const [path, answer] of Object.entries(answers))
      world.routes.set(`shop.example.com${path}`, (_, response) => void response.socket?.end(answer, "latin1"));
    const script = `document.body.textContent = ${JSON.stringify(Object.keys(answers))}.map((path) => {
      const request = new XMLHttpRequest();
      request.open("GET", path, false);
      try { request.send(); } catch {}
      return path + " " + request.status;
    }).join(", ")`;
    world.page("shop.example.com", `<body></body><script>${script}</script>`);
    const { value } = await world.open({ url, waitMs: 20_000, textLength: 1_000 });
    expect(value["text"]).toBe(
      Object.keys(answers)
        .map((path) => `${path} 502`)
        .join(", "),
    );
  });

  if (thorough) {
    it("is no page where its answer broke off", async () => {
      world.routes.set("shop.example.com/", (_, response) =>
        response.writeHead(200, { "content-encoding": "gzip" }).end("no gzip"),
      );
      const { reply } = await world.open({ url, waitMs: 20_000, textLength: 1_000 });
      expect(reply).toMatchObject({ ok: false, error: { code: "UNAVAILABLE" } });
    });
  }
});

if (thorough) {
  it("a page without a body has no text of the browser", async () => {
    world.routes.set("shop.example.com/", (_, response) => response.writeHead(404).end());
    const { value } = await world.open({ url, waitMs: 20_000, textLength: 1_000, extract: [{ selector: "p" }] });
    expect(value).toMatchObject({ url, status: 404, title: "", text: "", extracted: [{ count: 0, values: [] }] });
  });
}

describe("a page at a host with secrets", () => {
  const secret = "S3cr3tValue-0123456789abcdef";
  const ask = async (args: JsonObject): Promise<Visited> => {
    world.page("shop.example.com", `<title>${secret}</title><b>${secret}</b><input value="${secret}">`);
    return world.open({ url, waitMs: 20_000, ...args }, { secrets: await searching(secret) });
  };

  it("gives no part of one, wherever the tool lets its text end", async () => {
    const { value } = await ask({
      textLength: secret.length - 1,
      extract: [{ selector: "b" }, { selector: "input", attribute: "value" }],
    });
    expect(value).toMatchObject({
      title: mark,
      text: mark,
      extracted: [
        { count: 1, values: [mark] },
        { count: 1, values: [mark] },
      ],
    });
  });

  it.each([{ extract: [{ selector: 'b, :has([value *="3"])' }] }, ...sized([], [{ screenshot: "window" }])])(
    "answers no question for a part of one: %j",
    async (args) => {
      expect((await ask(args)).reply).toMatchObject({ ok: false, error: { code: "CAPABILITY_DENIED" } });
    },
  );
});

if (thorough) {
  it("a page that shows another address than the one it has is read", async () => {
    world.page("shop.example.com", `<title>app</title><script>history.pushState({}, "", "/inbox")</script>`);
    const { value } = await world.open({ url, waitMs: 20_000 });
    expect(value).toMatchObject({ title: "app", status: 200, url: `${url}inbox` });
  });
}

it("a visit that ends before a command is awaited leaves no failure to the process", async () => {
  const pipe = new CdpPipe(
    new PassThrough(),
    new PassThrough(),
    () => {},
    () => {},
  );
  const asked = pipe.send("Page.navigate");
  const unheard: unknown[] = [];
  const hear = (reason: unknown): void => void unheard.push(reason);
  process.on("unhandledRejection", hear);
  pipe.end("the visit is over");
  await setImmediate();
  process.off("unhandledRejection", hear);
  expect(unheard).toEqual([]);
  await expect(asked).rejects.toThrow("the visit is over");
});
