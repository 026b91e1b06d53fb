import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { natsBus } from "@keyhole/bus";
import { headers, type NatsConnection } from "@nats-io/nats-core";
import { connect } from "@nats-io/transport-node";
import { findNatsServer } from "../../scripts/engines.mjs";
import { afterwards } from "../mcp/support.ts";

/** Where it is not, its tests are left out. */
export const natsServerPath: string | undefined = findNatsServer();

/** A real server on this machine, which a test can kill and start again at its place. */
export class NatsServer {
  readonly #folder: string;
  readonly #port: number;
  readonly #pagePort: number;
  #process: ChildProcess | undefined;

  private constructor(folder: string, port: number, pagePort: number) {
    this.#folder = folder;
    this.#port = port;
    this.#pagePort = pagePort;
  }

  /** Ends after the test. */
  static async open(): Promise<NatsServer> {
    const folder = await mkdtemp(join(tmpdir(), "keyhole-nats-"));
    const [port, pagePort] = [await freePort(), await freePort()];
    const page = `websocket { host: "127.0.0.1", port: ${pagePort}, no_tls: true }`;
    await writeFile(join(folder, "nats.conf"), `host: "127.0.0.1"\nport: ${port}\n${page}\n`);
    const server = new NatsServer(folder, port, pagePort);
    afterwards(() => server.#end());
    await server.start();
    return server;
  }

  get url(): string {
    return `nats://127.0.0.1:${this.#port}`;
  }

  /** For pages. */
  get pageUrl(): string {
    return `ws://127.0.0.1:${this.#pagePort}`;
  }

  async start(): Promise<void> {
    const server = spawn(natsServerPath!, ["-c", join(this.#folder, "nats.conf")], {
      stdio: ["ignore", "ignore", "pipe"],
    });
    this.#process = server;
    let said = "";
    // Read to its end: a server that cannot write its log dies of it.
    await new Promise<void>((resolve, reject) => {
      server.stderr.on("data", (chunk) => {
        said += String(chunk);
        if (said.includes("Server is ready")) resolve();
      });
      server.on("exit", () => reject(new Error(`nats-server did not start: ${said}`)));
    });
  }

  /** Without a word to its clients. */
  async kill(): Promise<void> {
    const server = this.#process;
    this.#process = undefined;
    if (!server || server.exitCode !== null || server.signalCode !== null) return;
    const exit = once(server, "exit");
    server.kill("SIGKILL");
    await exit;
  }

  /** A connection that comes back soon, however often it is lost. */
  async connect(): Promise<NatsConnection> {
    const connection = await connectNats(this.url);
    afterwards(() => connection.close());
    return connection;
  }

  async bus(): Promise<ReturnType<typeof natsBus>> {
    return natsBus(await this.connect(), headers);
  }

  async #end(): Promise<void> {
    await this.kill();
    await rm(this.#folder, { recursive: true });
  }
}

function connectNats(url: string): Promise<NatsConnection> {
  return connect({ servers: url, maxReconnectAttempts: -1, reconnectTimeWait: 20, reconnectJitter: 10 });
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (typeof address !== "object" || address === null) throw new Error("There is no free port.");
  return address.port;
}
