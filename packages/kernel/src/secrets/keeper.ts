import { present } from "../support/guards.ts";
import type { BrokerError, BrokerReply } from "../capability/request.ts";
import { secretUse } from "../capability/families/secret-use.ts";
import type { OpenSecrets, Redactor, Revealed, SecretCall, SecretKeeper } from "../capability/secret.ts";
import { placeholder } from "../id/placeholder.ts";
import { type JsonValue, isJsonArray } from "../json/json.ts";
import type { Found } from "./found.ts";
import { bytesOf, textOf } from "./latin1.ts";
import { ByteRedactor, redactBytes, redactText, type Search } from "./redact.ts";
import { foreign, unavailable } from "./refusals.ts";
import { Remembered } from "./remembered.ts";
import type { SecretStore } from "./source.ts";
import { Values } from "./values.ts";

/**
 * Secrets for a kernel. A value exists in requests to hosts that `secret.use` names, and nowhere else: not in what tools see, in results, errors, logs,
 * approvals or proofs. `docs/secrets.md` lists the encodings in which a value is found again, and what is not found.
 *
 * @example
 * const kernel = await createKernel({ secrets: secretKeeper({ get: (name) => vault.read(name) }) });
 */
export function secretKeeper(store: SecretStore): SecretKeeper {
  const remembered = new Remembered();
  return { families: [secretUse], open: (call) => new Secrets(call, new Values(store, call.after), remembered) };
}

class Secrets implements OpenSecrets {
  readonly #call: SecretCall;
  readonly #values: Values;
  readonly #remembered: Remembered;
  /** For the values that the call revealed: it gets its placeholders back. */
  readonly #placeholders = new Map<string, string>();
  /**
   * The values that the call revealed, and those granted at its hosts. Kept beside the remembered
   * values, which can be dropped.
   */
  readonly #needed = new Set<Found>();
  /** Names and patterns whose values are known. */
  readonly #loaded = new Set<string>();
  readonly #uses = new Map<string, { readonly name: string; readonly host: string }>();

  constructor(call: SecretCall, values: Values, remembered: Remembered) {
    this.#call = call;
    this.#values = values;
    this.#remembered = remembered;
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

  isSearching(): boolean {
    return this.#call.granted().length > 0;
  }

  async redact(text: string): Promise<Revealed<string>> {
    const error = await this.#load();
    return error ? { ok: false, error } : { ok: true, value: redactText(text, this.#search()) };
  }

  async redactor(): Promise<Revealed<Redactor>> {
    const error = await this.#load();
    return error ? { ok: false, error } : { ok: true, value: new ByteRedactor(() => this.#search()) };
  }

  takeUses(): readonly { readonly name: string; readonly host: string }[] {
    const uses = [...this.#uses.values()];
    this.#uses.clear();
    return uses;
  }

  async clean(reply: BrokerReply): Promise<BrokerReply> {
    const error = await this.#load();
    if (error) return { ok: false, error };
    const search = this.#search();
    if (search.matcher.found.length === 0) return reply;
    if (!reply.ok) {
      const { message, hint, operatorHint = "" } = reply.error;
      const clean = (text: string): string => redactText(text, search);
      const texts = { message: clean(message), hint: clean(hint), operatorHint: clean(operatorHint) };
      return { ok: false, error: { ...reply.error, ...texts } };
    }
    const value = cleanValue(reply.value, search);
    return reply.body ? { ok: true, value, body: await redactBytes(reply.body, search) } : { ok: true, value };
  }

  /** Reads what an answer is to be searched for. Nothing is asked of the store twice in one call, and none of it is a use of a secret. */
  async #load(): Promise<BrokerError | undefined> {
    const { granted, revealed } = this.#call;
    const patterns = [...granted(), ...revealed];
    if (patterns.every((each) => this.#loaded.has(each))) return undefined;
    const names = await this.#values.namesOf(patterns);
    if (!names.ok) return names.error;
    const values = await this.#values.all(names.value);
    if (!values.ok) return values.error;
    for (const [name, value] of values.value) {
      this.#needed.add(this.#remembered.add(value));
      if (revealed.includes(name)) this.#standsFor(name, value);
    }
    for (const each of patterns) this.#loaded.add(each);
    return undefined;
  }

  #standsFor(name: string, value: string): void {
    if (!this.#placeholders.has(value)) this.#placeholders.set(value, placeholder(this.#call.token, name));
  }

  #search(): Search {
    const replacement = (value: string): string => this.#placeholders.get(value) ?? hidden;
    return { matcher: this.#remembered.matcher(this.#needed), replacement };
  }

  /** The values for every placeholder in a text. Nothing is asked of the store before all of them may go to the host. */
  async #valuesIn(text: string, host: string): Promise<Revealed<ReadonlyMap<string, string>>> {
    const { token, refusal, granted } = this.#call;
    const names = new Set<string>();
    for (const [, mark, name = ""] of text.matchAll(placeholders)) {
      if (mark !== token) return foreign;
      names.add(name);
    }
    for (const name of names) {
      const error = refusal(name, host);
      if (error) return { ok: false, error };
    }
    // The gate sends no request whose answer it could not search.
    const unlisted = this.#values.unlisted(granted());
    if (unlisted) return { ok: false, error: unlisted };
    const values = await this.#values.all(names);
    if (!values.ok) return values;
    for (const name of names) {
      const value = values.value.get(name);
      if (value === undefined) return unavailable(name);
      this.#needed.add(this.#remembered.add(value));
      this.#standsFor(name, value);
      this.#uses.set(`${name} ${host}`, { name, host });
    }
    return values;
  }
}

function cleanValue(value: JsonValue, search: Search): JsonValue {
  if (typeof value === "string") return redactText(value, search);
  if (typeof value === "number") {
    const digits = redactText(String(value), search);
    return digits === String(value) ? value : digits;
  }
  if (typeof value !== "object" || value === null) return value;
  if (isJsonArray(value)) return value.map((each) => cleanValue(each, search));
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [redactText(key, search), cleanValue(each, search)]),
  );
}

const placeholders = /keyhole-secret\.([0-9a-f]{32})\.([A-Za-z0-9_-]{1,64})\./g;

/** Fits wherever a value stood: in a header's name, in a URL, in JSON, in HTML. */
const hidden = "*keyhole-secret*";

const asItIs = (value: string): string => value;

function fill(text: string, values: ReadonlyMap<string, string>, encode: (value: string) => string): string {
  return text.replace(placeholders, (_, __, name: string) => encode(present(values.get(name))));
}
