import { install } from "./install.ts";

type Pair = readonly [string, string];

const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const { parse } = JSON;

function checkedName(name: unknown): string {
  const text = String(name);
  if (!token.test(text)) throw new TypeError("Invalid header name");
  return text.toLowerCase();
}

function checkedValue(value: unknown): string {
  const text = String(value).replace(/^[\t\n\r ]+|[\t\n\r ]+$/g, "");
  if (/[\0\n\r]|[^\0-\u00ff]/.test(text)) throw new TypeError("Invalid header value");
  return text;
}

class GuestHeaders {
  #pairs: Pair[] = [];

  constructor(init: unknown = []) {
    const list =
      typeof init === "object" && init !== null && Symbol.iterator in init
        ? [...(init as Iterable<readonly unknown[]>)]
        : Object.entries(init as object);
    for (const [name, value] of list) this.append(name, value);
  }

  append(name: unknown, value: unknown): void {
    this.#pairs.push([checkedName(name), checkedValue(value)]);
  }

  delete(name: unknown): void {
    const key = checkedName(name);
    this.#pairs = this.#pairs.filter(([each]) => each !== key);
  }

  get(name: unknown): string | null {
    const key = checkedName(name);
    const values = this.#pairs.filter(([each]) => each === key).map(([, value]) => value);
    return values.length === 0 ? null : values.join(", ");
  }

  getSetCookie(): string[] {
    return this.#pairs.filter(([name]) => name === "set-cookie").map(([, value]) => value);
  }

  has(name: unknown): boolean {
    const key = checkedName(name);
    return this.#pairs.some(([each]) => each === key);
  }

  set(name: unknown, value: unknown): void {
    const text = checkedValue(value);
    this.delete(name);
    this.append(name, text);
  }

  forEach(callback: (value: string, name: string, headers: this) => void): void {
    for (const [name, value] of this) callback(value, name, this);
  }

  /** Sorted, each name once, except `set-cookie` (Fetch, "sort and combine"). */
  *entries(): IterableIterator<[string, string]> {
    const names = [...new Set(this.#pairs.map(([name]) => name))].toSorted();
    for (const name of names) {
      if (name !== "set-cookie") yield [name, this.get(name) ?? ""];
      else for (const value of this.getSetCookie()) yield [name, value];
    }
  }

  *keys(): IterableIterator<string> {
    for (const [name] of this.entries()) yield name;
  }

  *values(): IterableIterator<string> {
    for (const [, value] of this.entries()) yield value;
  }

  [Symbol.iterator](): IterableIterator<[string, string]> {
    return this.entries();
  }
}

interface Init {
  readonly status?: number;
  readonly statusText?: string;
  readonly headers?: unknown;
}

const bodiless: ReadonlySet<number> = new Set([101, 103, 204, 205, 304]);

/** A response whose body has arrived. It has no `body` stream: nothing streams through the boundary. */
class GuestResponse {
  readonly status: number;
  readonly statusText: string;
  readonly headers: GuestHeaders;
  #bytes: Uint8Array<ArrayBuffer> | undefined;
  #used = false;

  constructor(body: unknown = null, { status = 200, statusText = "", headers = [] }: Init = {}) {
    if (!Number.isInteger(status) || status < 200 || status > 599) throw new RangeError("Invalid status");
    this.status = status;
    this.statusText = String(statusText);
    this.headers = new GuestHeaders(headers);
    if (body === null || body === undefined) return;
    if (bodiless.has(status)) throw new TypeError("A response with this status has no body");
    const [bytes, type] = bodyOf(body);
    this.#bytes = bytes;
    if (type !== undefined && !this.headers.has("content-type")) this.headers.set("content-type", type);
  }

  static json(data: unknown, init: Init = {}): GuestResponse {
    const response = new GuestResponse(JSON.stringify(data), init);
    const given = new GuestHeaders(init.headers ?? []);
    if (!given.has("content-type")) response.headers.set("content-type", "application/json");
    return response;
  }

  static error(): GuestResponse {
    const response = new GuestResponse();
    Object.defineProperty(response, "status", { value: 0, enumerable: true });
    return response;
  }

  get ok(): boolean {
    return this.status >= 200 && this.status <= 299;
  }

  get bodyUsed(): boolean {
    return this.#used;
  }

  get type(): string {
    return "default";
  }

  get url(): string {
    return "";
  }

  get redirected(): boolean {
    return false;
  }

  async bytes(): Promise<Uint8Array<ArrayBuffer>> {
    if (this.#used) throw new TypeError("The body has already been read");
    this.#used = this.#bytes !== undefined;
    return (this.#bytes ?? new Uint8Array()).slice();
  }

  async arrayBuffer(): Promise<ArrayBuffer> {
    return (await this.bytes()).buffer;
  }

  async text(): Promise<string> {
    return new TextDecoder().decode(await this.bytes());
  }

  async json(): Promise<unknown> {
    return parse(await this.text()) as unknown;
  }

  clone(): GuestResponse {
    if (this.#used) throw new TypeError("The body has already been read");
    const { status, statusText } = this;
    const copy = new GuestResponse(null, { status, statusText, headers: [...this.headers] });
    copy.#bytes = this.#bytes;
    return copy;
  }
}

function bodyOf(body: unknown): [Uint8Array<ArrayBuffer>, string | undefined] {
  if (body instanceof ArrayBuffer) return [new Uint8Array(body).slice(), undefined];
  if (ArrayBuffer.isView(body)) {
    return [new Uint8Array(body.buffer as ArrayBuffer, body.byteOffset, body.byteLength).slice(), undefined];
  }
  const isForm = body instanceof URLSearchParams;
  const type = isForm ? "application/x-www-form-urlencoded" : "text/plain";
  return [new TextEncoder().encode(String(body)), `${type};charset=UTF-8`];
}

install({ Headers: GuestHeaders, Response: GuestResponse });
