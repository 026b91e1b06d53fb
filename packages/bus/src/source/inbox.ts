import type { Clock } from "@keyhole/kernel";
import type { BusMessage, BusPort, OutgoingMessage } from "../port.ts";
import { Reports } from "../reports.ts";
import { headers, kindOf } from "../wire/headers.ts";
import { type BusCredential, credentialOf, sealed } from "../wire/seal.ts";
import { checkPrefix, defaultInbox } from "../wire/subjects.ts";
import { newToken } from "../wire/token.ts";

/** One exchange: a question, and where its answers arrive. */
export interface Exchange {
  readonly reply: string;
  readonly correlation: string;
  /** The source takes no more answers. */
  close(): void;
}

export interface InboxOptions {
  readonly prefix: string | undefined;
  readonly credential: BusCredential | undefined;
  readonly clock: Clock;
  readonly onError: (error: Error) => void;
}

interface Taking {
  readonly take: (message: BusMessage) => void;
  readonly onClose: () => void;
}

/** Where the answers of one source arrive. Each exchange has an unguessable subject of its own, and takes only messages of its correlation. */
export class Inbox {
  readonly #port: BusPort;
  readonly #options: InboxOptions;
  readonly #subject: string;
  readonly #taking = new Map<string, Taking>();
  readonly #reports: Reports;
  readonly #stops: readonly (() => void)[];

  /** @throws TypeError for a prefix that is no subject */
  constructor(port: BusPort, options: InboxOptions) {
    this.#port = port;
    this.#options = options;
    this.#subject = `${checkPrefix(options.prefix ?? defaultInbox)}.${newToken()}`;
    this.#reports = new Reports(options.clock, options.onError);
    this.#stops = [
      port.subscribe(`${this.#subject}.*`, (message) => this.#hear(message)),
      port.onFault(this.#reports.report),
    ];
  }

  get isConnected(): boolean {
    return this.#port.isConnected;
  }

  /** @param onClose the source ends, and no further answer comes */
  open(take: (message: BusMessage) => void, onClose: () => void): Exchange {
    const correlation = newToken();
    const reply = `${this.#subject}.${newToken()}`;
    const check = (message: BusMessage): void => {
      if (message.noResponders) return take(message);
      if (message.headers.get(headers.correlation) !== correlation)
        return this.report("An answer is of another exchange than its subject. It was dropped.");
      if (!this.#isOurs(message)) return this.report("An answer has no valid seal. It was dropped.");
      take(message);
    };
    this.#taking.set(reply, { take: check, onClose });
    return { reply, correlation, close: () => void this.#taking.delete(reply) };
  }

  /** @throws Error where the connection is closed for good */
  send(subject: string, message: OutgoingMessage): void {
    this.#port.publish(subject, sealed(subject, message, this.#options.credential));
  }

  close(): void {
    for (const stop of this.#stops) stop();
    for (const { onClose } of this.#taking.values()) onClose();
    this.#taking.clear();
  }

  report(text: string): void {
    this.#reports.report(new Error(text));
  }

  #hear(message: BusMessage): void {
    const taking = this.#taking.get(message.subject);
    if (taking) return taking.take(message);
    // The source asked kernels that describe their tools late, too.
    const kind = kindOf(message);
    const isKnown = message.noResponders || kind === "definition" || kind === "described";
    if (!isKnown) this.report("An answer came that nobody waits for. It was dropped.");
  }

  #isOurs(message: BusMessage): boolean {
    const { credential } = this.#options;
    if (!credential) return true;
    return credentialOf(message, (id) => (id === credential.id ? credential.key : undefined)) !== undefined;
  }
}
