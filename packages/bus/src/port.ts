/** A message as a bus delivers it. All of it is foreign. */
export interface BusMessage {
  readonly subject: string;
  /** Where an answer goes. */
  readonly reply: string | undefined;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Uint8Array;
  /** The report that a subject has no subscriber, at the `reply` of the message to it. Over NATS any client can send it: no seal covers it. */
  readonly noResponders: boolean;
}

/** A message as it is published. */
export interface OutgoingMessage {
  readonly reply?: string;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Uint8Array;
}

/**
 * A connection to a bus: subjects of tokens between dots, delivery at most once. `test/bus/contract.ts` says what each implementation must do. The program that
 * opened the connection closes it.
 */
export interface BusPort {
  /** Of one body. */
  readonly bodyBytes: number;
  /** `false` while the connection is lost. The bus drops the messages of that time. */
  readonly isConnected: boolean;
  /** Sends, or loses, a message. @throws Error where the connection is closed for good */
  publish(subject: string, message: OutgoingMessage): void;
  /**
   * Listens to a subject. In a pattern `*` stands for one token, and `>` at the end for one or more. Of all subscriptions of one `queue` a message reaches one. Returns
   * the way to stop. A message that cannot be read, and a throw of the listener, is a fault, and the next message comes all the same.
   */
  subscribe(
    pattern: string,
    listener: (message: BusMessage) => void,
    options?: { readonly queue?: string },
  ): () => void;
  /** Resolves when the subscriptions so far are in force. @throws Error where the connection was lost */
  flush(): Promise<void>;
  /** Calls back each time that a lost connection is there again: messages can have been lost. Returns the way to stop. */
  onReconnect(listener: () => void): () => void;
  /** Calls back for a message that cannot be read, a subscription that the server ended, and a connection that is lost for good. Returns the way to stop. */
  onFault(listener: (error: Error) => void): () => void;
}
