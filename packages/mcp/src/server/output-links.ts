import { encodeBase64Url } from "@keyhole/kernel";
import { type HeldOutput, Shares } from "@keyhole/kernel/context";
import { type McpCaller, isSameCaller, nameOf } from "./caller.ts";

/** An output that a caller can read again, under the authority that it has then. */
export type ReadableAgain<Value> = HeldOutput<Value, McpCaller>;

interface Link {
  readonly caller: McpCaller;
  /** The labels of an output belong to the session that its call taught them. */
  readonly sessionId: string;
  readonly output: ReadableAgain<string>;
}

/** Of one caller. Beyond, its oldest link ends. */
const MOST_OF_CALLER = 100;
/** Of all callers: what is kept of their calls beside the outputs, which are in the store. Beyond, the caller with the most loses its oldest link. */
const MOST_BYTES = 67_108_864;

/** The links to outputs that calls gave. A link is good for one caller in one session, and ends with the server. */
export class OutputLinks {
  /** The oldest first. */
  readonly #links = new Map<string, Link>();
  readonly #bytes = new Shares();

  /** Returns the address. */
  add(
    digest: string,
    output: ReadableAgain<string>,
    { caller, sessionId }: Pick<Link, "caller" | "sessionId">,
  ): string {
    const name = encodeBase64Url(crypto.getRandomValues(new Uint8Array(32)));
    const uri = `keyhole-content://${digest.replace(":", "/")}/${name}`;
    const own = [...this.#links].filter(([, link]) => isSameCaller(link.caller, caller));
    for (const [oldest] of own.slice(0, Math.max(0, own.length - MOST_OF_CALLER + 1))) this.#drop(oldest);
    this.#links.set(uri, { caller, sessionId, output });
    this.#bytes.add(nameOf(caller), output.bytes);
    while (this.#bytes.total > MOST_BYTES) {
      const oldest = this.#bytes.next(this.#links, (link) => nameOf(link.caller));
      this.#drop(oldest ?? "");
    }
    return uri;
  }

  find(uri: string, { caller, sessionId }: Pick<Link, "caller" | "sessionId">): ReadableAgain<string> | undefined {
    const link = this.#links.get(uri);
    return link && link.sessionId === sessionId && isSameCaller(link.caller, caller) ? link.output : undefined;
  }

  #drop(uri: string): void {
    const link = this.#links.get(uri);
    if (link) this.#bytes.add(nameOf(link.caller), -link.output.bytes);
    this.#links.delete(uri);
  }
}
