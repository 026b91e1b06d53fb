// The second half of `npm start`: builds what is stale, serves the playground and the edge, prints where they are, and ends everything that it started.
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { preview } from "vite";
import { chosenToken, isFree } from "../packages/edge/src/dev/start-settings.ts";
import { root } from "./project.mjs";
import { buildAll, isBuilt } from "./serve/build.mjs";
import { allScopes, startEdge } from "./serve/edge.mjs";
import { isRunning, starters } from "./serve/processes.mjs";

const places = [
  { what: "playground", variable: "KEYHOLE_PORT", fallback: 8700 },
  { what: "edge", variable: "KEYHOLE_EDGE_PORT", fallback: 8701 },
];

/** @type {(() => Promise<unknown>)[]} */
const cleanups = [];
let ending = false;

/** @param {string} text */
function say(text) {
  process.stdout.write(`${text}\n`);
}

/** @param {number} code */
async function end(code) {
  if (ending) return;
  ending = true;
  await Promise.allSettled(cleanups.map((cleanup) => cleanup()));
  process.exit(code);
}

/** @param {unknown} reason */
async function giveUp(reason) {
  if (!ending) process.stderr.write(`${reason instanceof Error ? reason.message : String(reason)}\n`);
  await end(1);
}

/** A signal to npm alone ends npm and its shell, and is not handed on to us. */
function endWithStarters() {
  const parent = process.ppid;
  const watched = starters();
  const look = () => {
    if (process.ppid !== parent || !watched.every(isRunning)) void end(0);
  };
  setInterval(look, 1_000).unref();
}

/** @returns {Promise<number[]>} */
async function choosePorts() {
  /** @type {number[]} */
  const ports = [];
  for (const { what, variable, fallback } of places) {
    const chosen = process.env[variable];
    const port = chosen ? Number(chosen) : fallback;
    if (!Number.isInteger(port) || port < 1 || port > 65_535)
      throw new Error(`${variable} is ${chosen}: a port is a number from 1 to 65535.`);
    if (ports.includes(port)) throw new Error(`Port ${port} is wanted twice: set ${variable} to another one.`);
    if (!(await isFree(port))) throw new Error(`Port ${port} (${what}) is taken: set ${variable} to another one.`);
    ports.push(port);
  }
  return ports;
}

async function main() {
  const startedAt = Date.now();
  const [port = 0, edgePort = 0] = await choosePorts();
  const token = chosenToken();
  const approvalKey = randomBytes(24).toString("base64url");
  if (!isBuilt()) {
    say("building the playground and the edge …");
    await buildAll();
  }
  say("starting …");
  const page = `http://127.0.0.1:${port}`;
  const edge = startEdge({
    port: edgePort,
    tokens: {
      [token]: { subject: "local", scopes: allScopes },
      // The pages on which an MCP client's questions are answered take no token that calls tools.
      [approvalKey]: { subject: "local-approver", scopes: ["approvals:write"] },
    },
    origins: [page, `http://localhost:${port}`],
    state: process.env["KEYHOLE_STATE"] || join(root, ".wrangler", "state"),
  });
  cleanups.push(async () => (await edge).stop());
  const server = await preview({
    configFile: join(root, "vite.config.ts"),
    logLevel: "warn",
    preview: { host: "127.0.0.1", port, strictPort: true },
  });
  cleanups.push(() => server.close());
  const { url, failed } = await edge;
  void failed.then(giveUp);

  // In the fragment, which a browser sends to nobody.
  const link = `${page}/#${new URLSearchParams({ edge: url, token })}`;
  say(`ready in ${((Date.now() - startedAt) / 1000).toFixed(1)} s\n`);
  say(`  playground  ${link}`);
  say(`  edge        ${url}`);
  say(`  token       ${token}`);
  say(`  MCP         ${url}/mcp, with the same token`);
  say(`  approvals   ${approvalKey}, on the pages to which an MCP client leads\n`);
  say(`  curl -H 'authorization: Bearer ${token}' ${url}/v1/tools\n`);
  say("Ctrl-C ends everything.");
}

process
  .on("SIGINT", () => void end(0))
  .on("SIGTERM", () => void end(0))
  .on("SIGHUP", () => void end(0));
endWithStarters();
main().catch(giveUp);
