import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterwards } from "../mcp/support.ts";

/** A client of NATS that sends what no library sends. It holds no key. */
export class RawClient {
  readonly #socket: Socket;

  private constructor(socket: Socket) {
    this.#socket = socket;
  }

  /** Ends after the test. */
  static async open(url: string): Promise<RawClient> {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    afterwards(() => void socket.destroy());
    await once(socket, "connect");
    socket.resume();
    const client = new RawClient(socket);
    client.#socket.write('CONNECT {"verbose":false,"headers":true}\r\n');
    return client;
  }

  /** @param head all lines before the body, without those that end it */
  publish(subject: string, head: string): void {
    const block = Buffer.from(`${head}\r\n\r\n`, "latin1");
    this.#socket.write(`HPUB ${subject} ${block.length} ${block.length}\r\n`);
    this.#socket.write(Buffer.concat([block, Buffer.from("\r\n")]));
  }
}
