import type { Clock } from "@keyhole/kernel";
import type { BusMessage, BusPort, OutgoingMessage } from "../port.ts";
import { Reports } from "../reports.ts";
import { headers, kindOf } from "../wire/headers.ts";
import { type BusCredential, credentialOf, sealed } from "../wire/seal.ts";
import { checkPrefix, defaultInbox } from "../wire/subjects.ts";
import { newToken } from "../wire/token.ts";

/** A message of one exchange, with a valid seal where the source has a credential. */
export type Answer = Omit<BusMessage, "noResponders">;

export interface ExchangeEvents {
  readonly onAnswer: (answer: Answer) => void;
  /** The bus, or any peer in its name, says that no one heard the question. Where the source seals, this is no evidence. */
  readonly onUnheard: () => void;
  /** The source ends, and no further answer comes. */
  readonly onClose: () => void;
}

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

/** Where the answers of one source arrive. Each exchange has an unguessable subject of its own, and takes only messages of its correlation. */
export class Inbox {
  readonly #port: BusPort;
  readonly #options: InboxOptions;
  readonly #subject: string;
  readonly #taking = new Map<string, ExchangeEvents & { readonly correlation: string }>();
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

  /** Whether the answers of this source have seals. */
  get isSealed(): boolean {
    return this.#options.credential !== undefined;
  }

  open(events: ExchangeEvents): Exchange {
    const correlation = newToken();
    const reply = `${this.#subject}.${newToken()}`;
    this.#taking.set(reply, { ...events, correlation });
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
    if (!taking) return this.#late(message);
    if (message.noResponders) return taking.onUnheard();
    if (message.headers.get(headers.correlation) !== taking.correlation)
      return this.report("An answer is of another exchange than its subject. It was dropped.");
    if (!this.#isOurs(message)) return this.report("An answer has no valid seal. It was dropped.");
    taking.onAnswer(message);
  }

  /** The source asked kernels that describe their tools late, too. */
  #late(message: BusMessage): void {
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
