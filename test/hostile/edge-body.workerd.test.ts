import { beforeAll, describe, expect, it } from "vitest";
import { openService, type Service } from "../edge/service.ts";

let service: Service;
beforeAll(async () => {
  service = await openService();
});

const post = (body: BodyInit, contentType: string | null = "application/json"): Promise<Response> =>
  service.send("/v1/tools/echo/calls", {
    method: "POST",
    body,
    headers: contentType === null ? {} : { "content-type": contentType },
  });

/** The service is as it was: an ordinary call works. */
const stillWorks = async (): Promise<void> => {
  expect((await post('{"input":{"message":"after"}}')).status).toBe(200);
};

describe("a body", () => {
  it.each([
    ["of no type", new Uint8Array([123, 125]), null],
    ["of a form", "input=1", "application/x-www-form-urlencoded"],
    ["of text, as a page may send without asking", '{"input":{"message":"x"}}', "text/plain"],
    ["of something like JSON", "{}", "application/jsonx"],
  ])("%s is 415", async (_, body, type) => {
    const response = await post(body, type);
    expect(response.status).toBe(415);
    expect(response.headers.get("accept-post")).toBe("application/json, application/octet-stream");
    await stillWorks();
  });

  it.each([
    ["empty", ""],
    ["not JSON", "{"],
    ["two values", "{}{}"],
    ["NaN", '{"input":NaN}'],
    ["with a comment", '{"input":{}/**/}'],
    ["an array", "[]"],
    ["null", "null"],
    ["a string", '"x"'],
    ["with an unknown key", '{"input":{},"callers":"root"}'],
    ["with an approver", '{"input":{},"approver":{}}'],
    ["with an own __proto__", '{"input":{},"__proto__":{"caller":"root"}}'],
    ["with an inherited name", '{"input":{},"constructor":{}}'],
    ["with toString", '{"input":{},"toString":1}'],
    ["with a version that is a number", '{"input":{},"version":1}'],
    ["with an empty session", '{"input":{},"sessionId":""}'],
    ["with a session of 257 characters", `{"input":{},"sessionId":"${"s".repeat(257)}"}`],
    ["with grants that are an object", '{"input":{},"grants":{}}'],
    ["with a grant that is null", '{"input":{},"grants":[null]}'],
    ["with bounds that are a list", '{"input":{},"bounds":[]}'],
    ["with a name twice", '{"input":{},"input":{"message":"x"}}'],
    ["with a name twice, deep in it", '{"input":{"message":"x","more":[{"a":{},"b":[1],"a":{}}]}}'],
    ["with a name twice, spelled in two ways", '{"input":{"message":"x","m\\u0065ssage":"y"}}'],
    ["81 levels deep", `{"input":${"[".repeat(80)}${"]".repeat(80)}}`],
    ["a hundred thousand levels deep", "[".repeat(100_000)],
  ])("%s is 400", async (_, body) => {
    const response = await post(body);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ code: "INVALID_REQUEST" });
    await stillWorks();
  });

  it("with bytes that are not UTF-8 is 400", async () => {
    const bytes = new TextEncoder().encode('{"input":{"message":"x"}}');
    bytes[20] = 0xff;
    expect((await post(bytes)).status).toBe(400);
  });

  it("goes on to the kernel at 80 levels, which refuses its input", async () => {
    const response = await post(`{"input":${"[".repeat(79)}${"]".repeat(79)}}`);
    expect(response.status).toBe(422);
    expect(await response.json()).toMatchObject({ code: "INVALID_INPUT" });
  });

  it("counts no bracket within a string", async () => {
    const message = '[[[{"\\'.repeat(100);
    const response = await post(JSON.stringify({ input: { message } }));
    expect(await response.json()).toMatchObject({ data: { message } });
  });

  it("with an input named __proto__ is the kernel's to refuse", async () => {
    const response = await post('{"input":{"message":"x","__proto__":{"polluted":true}}}');
    expect(response.status).toBe(422);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  const limit = (8 << 20) + 4096;
  const padded = (byteLength: number): string => {
    const frame = '{"input":{"message":""}}';
    return `{"input":{"message":"${"x".repeat(byteLength - frame.length)}"}}`;
  };

  it("of exactly the limit is read, of one byte more is not", async () => {
    expect((await post(padded(limit))).status).not.toBe(413);
    const response = await post(padded(limit + 1));
    expect(response.status).toBe(413);
    expect(await response.json()).toMatchObject({ code: "BODY_TOO_LARGE" });
  });

  it("is cut off while it streams, whatever its length was said to be", async () => {
    let sent = 0;
    let cancelled = false;
    const chunk = new TextEncoder().encode("x".repeat(1 << 20));
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        sent += 1;
        controller.enqueue(chunk);
      },
      cancel() {
        cancelled = true;
      },
    });
    expect((await post(endless)).status).toBe(413);
    // 8 MiB for the call, then 100 MB that nobody wants, and what is on its way.
    expect(sent).toBeLessThan(110);
    expect(cancelled).toBe(true);
  });

  it.each(["\u0000", "../etc", "a/b", "%2e%2e", "x".repeat(10_000), "💥", "constructor", "__proto__"])(
    "for a tool named %j finds none",
    async (name) => {
      const response = await service.send(`/v1/tools/${encodeURIComponent(name)}/calls`, {
        method: "POST",
        body: '{"input":{}}',
        headers: { "content-type": "application/json" },
      });
      expect([404, 414]).toContain(response.status);
      expect(await response.json()).toMatchObject({ status: 404 });
    },
  );
});
