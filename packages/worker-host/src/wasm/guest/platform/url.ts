import { host } from "../host.ts";
import { install } from "./install.ts";

interface Parts {
  readonly href: string;
  readonly origin: string;
  readonly protocol: string;
  readonly username: string;
  readonly password: string;
  readonly host: string;
  readonly hostname: string;
  readonly port: string;
  readonly pathname: string;
  readonly search: string;
  readonly hash: string;
}

const { parse } = JSON;

function partsOf(url: unknown, base: unknown): Parts | undefined {
  const text = host.parseUrl(String(url).toWellFormed(), base === undefined ? undefined : String(base).toWellFormed());
  return text === undefined ? undefined : (parse(text) as Parts);
}

type Pair = [string, string];

/** `application/x-www-form-urlencoded` (URL standard, section 5). */
function readPairs(query: string): Pair[] {
  const parts = query.split("&").filter((part) => part !== "");
  return parts.map((part) => {
    const at = part.indexOf("=");
    return at < 0 ? [decoded(part), ""] : [decoded(part.slice(0, at)), decoded(part.slice(at + 1))];
  });
}

function decoded(text: string): string {
  const bytes: number[] = [];
  const source = new TextEncoder().encode(text.replaceAll("+", " "));
  for (let i = 0; i < source.length; i++) {
    const byte = source[i]!;
    const code =
      byte === 0x25 ? Number.parseInt(String.fromCharCode(source[i + 1] ?? 0, source[i + 2] ?? 0), 16) : Number.NaN;
    const isEscape =
      byte === 0x25 && /^[0-9a-f]{2}$/i.test(String.fromCharCode(source[i + 1] ?? 0, source[i + 2] ?? 0));
    bytes.push(isEscape ? code : byte);
    if (isEscape) i += 2;
  }
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(Uint8Array.from(bytes));
}

function encoded(text: string): string {
  return encodeURIComponent(text.toWellFormed())
    .replace(/[!'()~]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll("%20", "+");
}

class GuestUrlSearchParams {
  #pairs: Pair[] = [];
  /** Told after each change, by the URL that owns these. */
  #changed: (() => void) | undefined;

  constructor(init: unknown = "") {
    if (typeof init === "object" && init !== null) {
      const list = Symbol.iterator in init ? [...(init as Iterable<readonly unknown[]>)] : Object.entries(init);
      this.#pairs = list.map(([name, value]) => [String(name), String(value)]);
    } else {
      this.#pairs = readPairs(String(init).replace(/^\?/, ""));
    }
  }

  static own(query: string, changed: () => void): GuestUrlSearchParams {
    const params = new GuestUrlSearchParams(query);
    params.#changed = changed;
    return params;
  }

  static reset(params: GuestUrlSearchParams, query: string): void {
    params.#pairs = readPairs(query);
  }

  #set(pairs: Pair[]): void {
    this.#pairs = pairs;
    this.#changed?.();
  }

  get size(): number {
    return this.#pairs.length;
  }

  append(name: unknown, value: unknown): void {
    this.#set([...this.#pairs, [String(name), String(value)]]);
  }

  delete(name: unknown, value?: unknown): void {
    this.#set(
      this.#pairs.filter(([key, each]) => key !== String(name) || (value !== undefined && each !== String(value))),
    );
  }

  get(name: unknown): string | null {
    return this.#pairs.find(([key]) => key === String(name))?.[1] ?? null;
  }

  getAll(name: unknown): string[] {
    return this.#pairs.filter(([key]) => key === String(name)).map(([, value]) => value);
  }

  has(name: unknown, value?: unknown): boolean {
    return this.#pairs.some(([key, each]) => key === String(name) && (value === undefined || each === String(value)));
  }

  set(name: unknown, value: unknown): void {
    const at = this.#pairs.findIndex(([key]) => key === String(name));
    if (at < 0) return this.append(name, value);
    const rest = this.#pairs.filter(([key], i) => i <= at || key !== String(name));
    this.#set(rest.map((pair, i) => (i === at ? [pair[0], String(value)] : pair)));
  }

  sort(): void {
    this.#set(this.#pairs.toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));
  }

  forEach(callback: (value: string, name: string, params: this) => void): void {
    for (const [name, value] of this.#pairs) callback(value, name, this);
  }

  *entries(): IterableIterator<Pair> {
    for (const [name, value] of this.#pairs) yield [name, value];
  }

  *keys(): IterableIterator<string> {
    for (const [name] of this.#pairs) yield name;
  }

  *values(): IterableIterator<string> {
    for (const [, value] of this.#pairs) yield value;
  }

  [Symbol.iterator](): IterableIterator<Pair> {
    return this.entries();
  }

  toString(): string {
    return this.#pairs.map(([name, value]) => `${encoded(name)}=${encoded(value)}`).join("&");
  }
}

const { own, reset } = GuestUrlSearchParams;
Reflect.deleteProperty(GuestUrlSearchParams, "own");
Reflect.deleteProperty(GuestUrlSearchParams, "reset");

class GuestUrl {
  #parts: Parts;
  #params: GuestUrlSearchParams | undefined;

  constructor(url: unknown, base?: unknown) {
    const parts = partsOf(url, base);
    if (parts === undefined) throw new TypeError("Invalid URL");
    this.#parts = parts;
  }

  static canParse(url: unknown, base?: unknown): boolean {
    return partsOf(url, base) !== undefined;
  }

  static parse(url: unknown, base?: unknown): GuestUrl | null {
    return GuestUrl.canParse(url, base) ? new GuestUrl(url, base) : null;
  }

  get searchParams(): GuestUrlSearchParams {
    this.#params ??= own(this.#parts.search.slice(1), () => {
      this.#parts = parse(host.changeUrl(this.#parts.href, "search", String(this.#params))) as Parts;
    });
    return this.#params;
  }

  /** @throws TypeError for an `href` that is no URL */
  static change(url: GuestUrl, part: keyof Parts, value: unknown): void {
    const text = String(value).toWellFormed();
    if (part === "href") url.#parts = new GuestUrl(text).#parts;
    else url.#parts = parse(host.changeUrl(url.#parts.href, part, text)) as Parts;
    if (url.#params !== undefined) reset(url.#params, url.#parts.search.slice(1));
  }

  static part(url: GuestUrl, part: keyof Parts): string {
    return url.#parts[part];
  }

  toString(): string {
    return this.#parts.href;
  }

  toJSON(): string {
    return this.#parts.href;
  }
}

const { change, part } = GuestUrl;
Reflect.deleteProperty(GuestUrl, "change");
Reflect.deleteProperty(GuestUrl, "part");
const names: readonly (keyof Parts)[] = [
  "href",
  "origin",
  "protocol",
  "username",
  "password",
  "host",
  "hostname",
  "port",
  "pathname",
  "search",
  "hash",
];
for (const name of names) {
  Object.defineProperty(GuestUrl.prototype, name, {
    get(this: GuestUrl) {
      return part(this, name);
    },
    ...(name !== "origin" && {
      set(this: GuestUrl, value: unknown) {
        change(this, name, value);
      },
    }),
    enumerable: true,
    configurable: true,
  });
}

install({ URL: GuestUrl, URLSearchParams: GuestUrlSearchParams });
