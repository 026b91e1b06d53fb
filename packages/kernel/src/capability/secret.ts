import { placeholderMark } from "../id/placeholder.ts";
import type { BrokerError, BrokerReply } from "./request.ts";
import type { Family } from "./family.ts";

/** Puts values of secrets into requests and takes them out of answers. `secretKeeper` of `@keyhole/kernel/secrets` makes one from a store. */
export interface SecretKeeper {
  /** The kind that grants secrets, which the kernel knows by it. */
  readonly families: readonly Family[];
  open(call: SecretCall): OpenSecrets;
}

/** The call, for a keeper. */
export interface SecretCall {
  /** Marks the call's own placeholders. */
  readonly token: string;
  /** Why a secret may not go to a host; `undefined` where it may. */
  readonly refusal: (name: string, host: string) => BrokerError | undefined;
  /** Names, exact or as a pattern, that the policy grants to any tool and caller at the hosts that this call reached so far. */
  readonly granted: () => readonly string[];
  /** Names of secrets that the call had revealed before it was suspended. */
  readonly revealed: readonly string[];
  /** The kernel's timer: calls back once, unless the returned function was called before. */
  readonly after: (delayMs: number, callback: () => void) => () => void;
}

/**
 * The broker's access to secrets. A broker keeps the request as the tool made it, and reveals it
 * anew for every hop. So a redirect to a host without the secret is refused, and a dropped header
 * reveals nothing.
 */
export interface CallSecrets {
  /**
   * A text with values in the place of the call's placeholders, for one host. `encode` writes a value as the place demands: `encodeURIComponent` in a query,
   * `(value) => JSON.stringify(value).slice(1, -1)` in JSON; by default it stands as it is. Values can hold line breaks: not every one fits a header.
   */
  reveal(text: string, host: string, encode?: (value: string) => string): Promise<Revealed<string>>;
  /** The same in a body; values as UTF-8. */
  revealBytes(
    bytes: Uint8Array,
    host: string,
    encode?: (value: string) => string,
  ): Promise<Revealed<Uint8Array<ArrayBuffer>>>;
  /**
   * Whether the policy grants secrets at the hosts that the call reached. A broker then lets no
   * tool choose a part of an answer, such as a range of bytes: the kernel does not recognize a part
   * of a value.
   */
  isSearching(): boolean;
  /**
   * A text of a server without the values of secrets, such as a redirect's target before the broker
   * follows it. An error where the kernel cannot read the values: then no code may use the text.
   */
  redact(text: string): Promise<Revealed<string>>;
  /**
   * The same for a body in chunks, cut anywhere. Replies need no redactor: the kernel redacts each
   * complete reply.
   */
  redactor(): Promise<Revealed<Redactor>>;
}

export type Revealed<Content> =
  | { readonly ok: true; readonly value: Content }
  | { readonly ok: false; readonly error: BrokerError };

export interface Redactor {
  /** The part that is safe to pass on. */
  push(piece: Uint8Array): Uint8Array<ArrayBuffer>;
  /** The rest. */
  end(): Uint8Array<ArrayBuffer>;
}

/** The kernel's side of it. */
export interface OpenSecrets extends CallSecrets {
  /** The secrets revealed since the last call of this method, each once. */
  takeUses(): readonly { readonly name: string; readonly host: string }[];
  /**
   * A reply without the values of secrets: those that are granted at the hosts of the call, those that the call revealed, and those that the keeper
   * remembers. An error in place of the reply where it cannot read one of the first two.
   */
  clean(reply: BrokerReply): Promise<BrokerReply>;
}

/** The secrets of a kernel without a keeper: it replaces no placeholder. */
export const noSecrets: OpenSecrets = {
  reveal: async (text) => (text.includes(placeholderMark) ? nobody : { ok: true, value: text }),
  revealBytes: async (bytes) =>
    new TextDecoder().decode(bytes).includes(placeholderMark) ? nobody : { ok: true, value: new Uint8Array(bytes) },
  isSearching: () => false,
  redact: async (text) => ({ ok: true, value: text }),
  redactor: async () => ({
    ok: true,
    value: { push: (piece) => new Uint8Array(piece), end: () => new Uint8Array() },
  }),
  takeUses: () => [],
  clean: async (reply) => reply,
};

const nobody: { readonly ok: false; readonly error: BrokerError } = {
  ok: false,
  error: {
    code: "CAPABILITY_DENIED",
    message: "This kernel keeps no secrets.",
    hint: "Ask for it without a secret.",
    operatorHint: "Give the kernel `secrets: secretKeeper(store)`.",
  },
};
