import type { CapabilityError, CapabilityReply } from "../capability/broker.ts";
import type { OpenSecrets, Redactor, Revealed, SecretKeeper } from "../capability/secret.ts";
import { placeholder } from "../id/placeholder.ts";
import type { JsonValue } from "../normalize/json.ts";
import { bytesOf, textOf } from "./latin1.ts";
import { ByteRedactor, finder, type Found, redactBytes, redactText } from "./redact.ts";

/** Where the values are: a vault, an environment, a page's memory. The embedding program's own. */
export interface SecretStore {
  /** The value as it is now, or `undefined` where there is none. Asked once per call and secret. */
  get(name: string): Promise<string | undefined> | string | undefined;
}

/** UTF-16 units. What is shorter turns up by chance in whatever a server says, and could not be taken out of it. */
const minLength = 8;
const maxLength = 4_096;

/**
 * Secrets for a kernel. A value exists in requests to hosts that `secret.use` names, and nowhere else: not in what tools see, in results, errors, logs,
 * approvals or proofs. A server that gives it back in a form that no pattern finds (encrypted, hashed, torn apart) gives it to the tool.
 *
 * @example
 * const kernel = await createKernel({ secrets: secretKeeper({ get: (name) => vault.read(name) }) });
 */
export function secretKeeper(store: SecretStore): SecretKeeper {
  const seen = new Seen();
  return { open: ({ token, refusal }) => new Secrets(store, seen, token, refusal) };
}

/** More values than one kernel reveals; each costs time with every answer. */
const maxSeen = 64;

/** Values that any call revealed: a server that one call told can answer another. Bounded, the longest unused go first. */
class Seen {
  readonly #found = new Map<string, Found>();

  add(value: string): void {
    const found = this.#found.get(value) ?? finder(value, "[keyhole-secret]");
    this.#found.delete(value);
    this.#found.set(value, found);
    if (this.#found.size > maxSeen) this.#found.delete(this.#found.keys().next().value!);
  }

  /** A call's own first: it gets its placeholders back. */
  with(own: ReadonlyMap<string, Found>): readonly Found[] {
    return [...own.values(), ...this.#found.values()];
  }
}

type Values = ReadonlyMap<string, string>;

class Secrets implements OpenSecrets {
  readonly #store: SecretStore;
  readonly #seen: Seen;
  readonly #token: string;
  readonly #refusal: (name: string, host: string) => CapabilityError | undefined;
  readonly #values = new Map<string, Promise<string | undefined>>();
  /** Of the values that were revealed, by name. */
  readonly #found = new Map<string, Found>();
  readonly #uses = new Map<string, { readonly name: string; readonly host: string }>();

  constructor(
    store: SecretStore,
    seen: Seen,
    token: string,
    refusal: (name: string, host: string) => CapabilityError | undefined,
  ) {
    this.#store = store;
    this.#seen = seen;
    this.#token = token;
    this.#refusal = refusal;
  }

  async reveal(text: string, host: string, encode = asItIs): Promise<Revealed<string>> {
    const values = await this.#valuesIn(text, host);
    return values.ok ? { ok: true, value: fill(text, values.value, encode) } : values;
  }

  async revealBytes(bytes: Uint8Array, host: string, encode = asItIs): Promise<Revealed<Uint8Array<ArrayBuffer>>> {
    const text = textOf(bytes);
    const values = await this.#valuesIn(text, host);
    if (!values.ok) return values;
    const asUtf8 = (value: string): string => textOf(new TextEncoder().encode(encode(value)));
    return { ok: true, value: bytesOf(fill(text, values.value, asUtf8)) };
  }

  redact(text: string): string {
    return redactText(text, this.#seen.with(this.#found));
  }

  redactor(): Redactor {
    return new ByteRedactor(() => this.#seen.with(this.#found));
  }

  takeUses(): readonly { readonly name: string; readonly host: string }[] {
    const uses = [...this.#uses.values()];
    this.#uses.clear();
    return uses;
  }

  clean(reply: CapabilityReply): CapabilityReply {
    if (this.#seen.with(this.#found).length === 0) return reply;
    if (!reply.ok) {
      const { code, message, hint } = reply.error;
      return { ok: false, error: { code, message: this.redact(message), hint: this.redact(hint) } };
    }
    const value = this.#cleanValue(reply.value);
    return reply.body
      ? { ok: true, value, body: redactBytes(reply.body, this.#seen.with(this.#found)) }
      : { ok: true, value };
  }

  #cleanValue(value: JsonValue): JsonValue {
    if (typeof value === "string") return this.redact(value);
    if (typeof value !== "object" || value === null) return value;
    if (Array.isArray(value)) return value.map((each: JsonValue) => this.#cleanValue(each));
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [this.redact(key), this.#cleanValue(each)]));
  }

  /** The values for every placeholder in a text. Nothing is asked of the store before all of them may go to the host. */
  async #valuesIn(text: string, host: string): Promise<Revealed<Values>> {
    const names = new Set<string>();
    for (const [, token, name = ""] of text.matchAll(placeholders)) {
      if (token !== this.#token) return foreign;
      names.add(name);
    }
    for (const name of names) {
      const error = this.#refusal(name, host);
      if (error) return { ok: false, error };
    }
    const values = new Map<string, string>();
    for (const name of names) {
      const value = await this.#valueOf(name);
      if (value === undefined) return unavailable(name);
      values.set(name, value);
      this.#seen.add(value);
      if (!this.#found.has(name)) this.#found.set(name, finder(value, placeholder(this.#token, name)));
      this.#uses.set(`${name} ${host}`, { name, host });
    }
    return { ok: true, value: values };
  }

  /** What the store throws stays here: it can name anything. */
  #valueOf(name: string): Promise<string | undefined> {
    let value = this.#values.get(name);
    if (!value) {
      value = (async () => this.#store.get(name))().then(
        (given: unknown) =>
          typeof given === "string" && given.length >= minLength && given.length <= maxLength && given.isWellFormed()
            ? given
            : undefined,
        () => undefined,
      );
      this.#values.set(name, value);
    }
    return value;
  }
}

const placeholders = /keyhole-secret\.([0-9a-f]{32})\.([A-Za-z0-9_-]{1,64})\./g;

const asItIs = (value: string): string => value;

function fill(text: string, values: Values, encode: (value: string) => string): string {
  return text.replace(placeholders, (_, __, name: string) => encode(values.get(name)!));
}

const foreign: { readonly ok: false; readonly error: CapabilityError } = {
  ok: false,
  error: {
    code: "INVALID_REQUEST",
    message: "The request has a placeholder for a secret that is not this call's own.",
    hint: "Ask `context.secret(name)` in each call, and keep nothing of it.",
  },
};

function unavailable(name: string): { readonly ok: false; readonly error: CapabilityError } {
  return {
    ok: false,
    error: {
      code: "NOT_FOUND",
      message: `There is no value for the secret ${name}.`,
      hint: `A value has ${minLength} to ${maxLength} characters.`,
    },
  };
}
