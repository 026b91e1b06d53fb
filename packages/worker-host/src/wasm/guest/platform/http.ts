import { install } from "./install.ts";

type Pair = readonly [string, string];

const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

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

/** `Response` comes when the realm is hardened, as everywhere. */
install({ Headers: GuestHeaders });
