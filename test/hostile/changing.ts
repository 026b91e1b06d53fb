/*
 * Objects that are something else whenever somebody looks again: what an approver, a broker or a sink can give to a kernel that looks twice.
 */

/** How an object comes to change. */
export const ways = ["a proxy", "getters"] as const;
export type Way = (typeof ways)[number];

/** What stands at a place from the second look on. */
export type Later = (place: string, first: unknown) => unknown;

export interface Changing<T> {
  readonly value: T;
  /** Places that were looked at again, each as often as it was. */
  readonly again: readonly string[];
}

/** A copy of plain data that says at the first look at each place what the data says, and then what `later` says. Bytes and functions stay as they are. */
export function changing<T>(data: T, later: Later, way: Way): Changing<T> {
  const again: string[] = [];
  const made = (value: unknown, place: string): unknown => {
    if (typeof value !== "object" || value === null || !isPlain(value)) return value;
    const looks = new Map<string, number>();
    const look = (how: string, key: string, first: unknown): unknown => {
      const count = (looks.get(how + key) ?? 0) + 1;
      looks.set(how + key, count);
      if (count === 1) return first;
      again.push(`${place}/${key}`);
      return later(`${place}/${key}`, first);
    };
    const parts: Record<string, unknown> = Array.isArray(value) ? ([] as never) : {};
    for (const [key, each] of Object.entries(value)) parts[key] = made(each, `${place}/${key}`);
    return way === "a proxy" ? throughTraps(parts, look) : throughGetters(parts, look);
  };
  return { value: made(data, "") as T, again };
}

type Look = (how: string, key: string, first: unknown) => unknown;

/** A descriptor and a value are two ways to look: `{ ...spread }` needs one of each, and goes by the value. */
function throughTraps(parts: Record<string, unknown>, look: Look): object {
  return new Proxy(parts, {
    get: (target, key) =>
      isPlace(target, key) ? look("get", key, target[key]) : (Reflect.get(target, key) as unknown),
    getOwnPropertyDescriptor(target, key) {
      const descriptor = Reflect.getOwnPropertyDescriptor(target, key);
      if (!descriptor || !isPlace(target, key)) return descriptor;
      return { ...descriptor, value: look("descriptor", key, target[key]) };
    },
  });
}

function throughGetters(parts: Record<string, unknown>, look: Look): object {
  if (Array.isArray(parts)) return parts.map((_, at) => parts[at] as unknown);
  const object = {};
  for (const key of Object.keys(parts))
    Object.defineProperty(object, key, { enumerable: true, get: () => look("get", key, parts[key]) });
  return object;
}

const isPlace = (target: object, key: string | symbol): key is string =>
  typeof key === "string" && key !== "length" && Object.hasOwn(target, key);

function isPlain(value: object): boolean {
  return Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype;
}
