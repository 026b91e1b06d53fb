import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { isolateSources, pagePolicy } from "@keyhole/worker-host/csp";
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

const good = pagePolicy();
const answered = async (headers: Readonly<Record<string, string>>, html = ""): Promise<readonly string[]> => {
  const server = createServer((_, response) => response.writeHead(200, headers).end(html)).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  try {
    const findings = await pageFindings(`http://127.0.0.1:${port}/`, new AbortController().signal);
    return findings.flatMap(({ state, subject }) => (state === "ok" ? [] : [`${subject} ${state}`]));
  } finally {
    server.close();
  }
};

it.each([
  ["the policy that isolates need", good, []],
  [
    "a directive that stands twice",
    good.replace("script-src", "script-src 'self'; script-src"),
    ["script-src missing"],
  ],
  ["script-src-elem beside script-src", `${good}; script-src-elem 'self'`, ["script-src-elem missing"]],
  ["script-src-elem that allows all", `${good}; script-src-elem ${isolateSources["script-src"].join(" ")}`, []],
  ["child-src without worker-src", "child-src 'self'; frame-ancestors 'none'", ["worker-src missing"]],
  ["trusted types of another name", `${good}; trusted-types other`, ["trusted-types missing"]],
  ["trusted types of any name", `${good}; trusted-types *`, []],
  ["a sandbox", `${good}; sandbox allow-scripts`, ["sandbox missing"]],
  ["no frame-ancestors", good.replace(/frame-ancestors[^;]*/, ""), ["frame-ancestors absent"]],
])("reads as browsers do: %s", async (_, policy, expected) => {
  expect(await answered({ "content-security-policy": policy })).toEqual(expected);
});

it("does not count what a meta element cannot set", async () => {
  const meta = `<meta http-equiv="Content-Security-Policy" content="${good}; sandbox">`;
  expect(await answered({}, meta)).toEqual(["frame-ancestors absent"]);
});
