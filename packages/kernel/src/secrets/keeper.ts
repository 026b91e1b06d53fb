import type { CapabilityError, CapabilityReply } from "../capability/broker.ts";
import type { OpenSecrets, Redactor, Revealed, SecretKeeper } from "../capability/secret.ts";
import { placeholder } from "../id/placeholder.ts";
import type { JsonValue } from "../normalize/json.ts";
import { type Found, maxLength, minLength } from "./found.ts";
import { bytesOf, textOf } from "./latin1.ts";
import { ByteRedactor, redactBytes, redactText, type Search } from "./redact.ts";
import { Remembered } from "./remembered.ts";

/** Where the values are: a vault, an environment, a page's memory. The embedding program's own. */
export interface SecretStore {
  /** The value as it is now, or `undefined` where there is none. Asked once per call and secret. */
  get(name: string): Promise<string | undefined> | string | undefined;
}

/**
 * Secrets for a kernel. A value exists in requests to hosts that `secret.use` names, and nowhere else: not in what tools see, in results, errors, logs,
 * approvals or proofs. `docs/secrets.md` lists the encodings in which a value is found again, and what is not found.
 *
 * @example
 * const kernel = await createKernel({ secrets: secretKeeper({ get: (name) => vault.read(name) }) });
 */
export function secretKeeper(store: SecretStore): SecretKeeper {
  const remembered = new Remembered();
  return { open: ({ token, refusal }) => new Secrets(store, remembered, token, refusal) };
}

type Values = ReadonlyMap<string, string>;

class Secrets implements OpenSecrets {
  readonly #store: SecretStore;
  readonly #remembered: Remembered;
  readonly #token: string;
  readonly #refusal: (name: string, host: string) => CapabilityError | undefined;
  readonly #values = new Map<string, Promise<string | undefined>>();
  /** For the values that the call revealed: it gets its placeholders back. */
  readonly #placeholders = new Map<string, string>();
  /** What the call revealed. Kept beside what is remembered: that is forgotten one day. */
  readonly #needed = new Set<Found>();
  readonly #uses = new Map<string, { readonly name: string; readonly host: string }>();

  constructor(
    store: SecretStore,
    remembered: Remembered,
    token: string,
    refusal: (name: string, host: string) => CapabilityError | undefined,
  ) {
    this.#store = store;
    this.#remembered = remembered;
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
    return redactText(text, this.#search());
  }

  redactor(): Redactor {
    return new ByteRedactor(() => this.#search());
  }

  takeUses(): readonly { readonly name: string; readonly host: string }[] {
    const uses = [...this.#uses.values()];
    this.#uses.clear();
    return uses;
  }

  clean(reply: CapabilityReply): CapabilityReply {
    const search = this.#search();
    if (search.matcher.found.length === 0) return reply;
    if (!reply.ok) {
      const { code, message, hint } = reply.error;
      return { ok: false, error: { code, message: redactText(message, search), hint: redactText(hint, search) } };
    }
    const value = cleanValue(reply.value, search);
    return reply.body ? { ok: true, value, body: redactBytes(reply.body, search) } : { ok: true, value };
  }

  #search(): Search {
    const replacement = (value: string): string => this.#placeholders.get(value) ?? hidden;
    return { matcher: this.#remembered.matcher(this.#needed), replacement };
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
      this.#needed.add(this.#remembered.add(value));
      if (!this.#placeholders.has(value)) this.#placeholders.set(value, placeholder(this.#token, name));
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

function cleanValue(value: JsonValue, search: Search): JsonValue {
  if (typeof value === "string") return redactText(value, search);
  if (typeof value === "number") {
    const digits = redactText(String(value), search);
    return digits === String(value) ? value : digits;
  }
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((each: JsonValue) => cleanValue(each, search));
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [redactText(key, search), cleanValue(each, search)]),
  );
}

const placeholders = /keyhole-secret\.([0-9a-f]{32})\.([A-Za-z0-9_-]{1,64})\./g;

/** Fits wherever a value stood: in a header's name, in a URL, in JSON, in HTML. */
const hidden = "*keyhole-secret*";

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
