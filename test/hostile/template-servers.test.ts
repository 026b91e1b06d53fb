import { spawn } from "node:child_process";
import { once } from "node:events";
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { expect, it } from "vitest";
import { openApprovalPage } from "../../packages/keyhole/templates/mcp/src/approvals.ts";

// Each program of the machine, and each page that is open on it, can send any target to a port.

interface Served {
  readonly url: string;
  close(): void;
}

async function openStaticSite(): Promise<Served> {
  const folder = mkdtempSync(join(tmpdir(), "keyhole-"));
  mkdirSync(join(folder, "site"));
  writeFileSync(join(folder, "site/_headers"), "/*\n  Content-Security-Policy: default-src 'none'\n");
  writeFileSync(join(folder, "site/index.html"), "<p>The page.</p>");
  const program = spawn(process.execPath, [resolve("packages/keyhole/templates/static-html/serve.ts")], {
    cwd: folder,
    env: { ...process.env, PORT: "0" },
    stdio: ["ignore", "pipe", "ignore"],
  });
  const [line] = (await once(program.stdout, "data")) as [Buffer];
  return {
    url: `${line.toString().trim()}/`,
    close() {
      program.kill();
      rmSync(folder, { recursive: true });
    },
  };
}

const servers: Readonly<Record<string, () => Promise<Served>>> = {
  "packages/keyhole/templates/mcp/src/approvals.ts": openApprovalPage,
  "packages/keyhole/templates/static-html/serve.ts": openStaticSite,
};

/** @returns the first line of the answer; empty where the server cut the connection */
async function statusOf(port: number, target: string): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  socket.end(Buffer.from(`GET ${target} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`, "latin1"));
  let answer = "";
  for await (const part of socket as AsyncIterable<Buffer>) answer += part.toString("latin1");
  return answer.split("\r\n", 1)[0]!;
}

it.each(Object.keys(servers))("a request for any target leaves %s serving", async (name) => {
  const served = await servers[name]!();
  try {
    const port = Number(new URL(served.url).port);
    // The last is as long as the key in characters, and longer in bytes.
    const targets = ["//", "/\\", "http://[", "//x:99999/", "http://a:b:c/", "/%", "*", `/${"\u00e9".repeat(32)}`];
    for (const target of targets)
      expect([target, await statusOf(port, target)]).toEqual([target, expect.stringMatching(/ 40[04] /)]);
    expect((await fetch(served.url)).status).toBe(200);
  } finally {
    served.close();
  }
});

it("each server of a template is above", () => {
  const files = globSync("packages/keyhole/templates/**/*.{ts,tsx,js}", {
    exclude: (path) => path.includes("node_modules"),
  });
  const listening = files.filter((path) => /createServer|\.listen\(/.test(readFileSync(path, "utf8")));
  expect(listening.sort()).toEqual(Object.keys(servers).sort());
});
