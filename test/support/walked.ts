/*
 * Walks what an embedding program gives to a kernel: notes each function that the kernel calls and each promise that it is given, and lets one of them
 * reject, whatever it should have given.
 */

/** A copy of what is given that notes its functions in `places`. At the place `broken` stands what gives a promise that rejects. */
export function walked<T extends object>(given: T, places: Set<string>, broken?: string): T {
  const walk = (value: unknown, place: string): unknown => {
    if (value instanceof Promise) return promised(value, place);
    if (typeof value === "function") return called(value as Called, undefined, place);
    return isOurs(value) ? members(value, place) : value;
  };
  const rejected = (place: string): Promise<never> => Promise.reject(new Error(`${place} rejects`));
  const promised = (value: Promise<unknown>, place: string): Promise<unknown> => {
    value.catch(() => undefined);
    places.add(place);
    return place === broken ? rejected(place) : value.then((each) => walk(each, place));
  };
  const called =
    (call: Called, owner: unknown, place: string): Called =>
    (...args) => {
      places.add(place);
      const answer = call.apply(owner, args);
      if (place !== broken) return walk(answer, `${place}()`);
      if (answer instanceof Promise) answer.catch(() => undefined);
      return rejected(place);
    };
  const members = (owner: object, place: string): object =>
    new Proxy(
      {},
      {
        get(_, key) {
          const value = Reflect.get(owner, key, owner) as unknown;
          if (typeof key === "symbol") return value;
          return typeof value === "function"
            ? called(value as Called, owner, `${place}.${key}`)
            : walk(value, `${place}.${key}`);
        },
        has: (_, key) => Reflect.has(owner, key),
        ownKeys: () => Reflect.ownKeys(owner),
        getOwnPropertyDescriptor: (_, key) =>
          Object.hasOwn(owner, key) ? { configurable: true, enumerable: true, writable: true } : undefined,
      },
    );
  return members(given, "") as T;
}

type Called = (...args: unknown[]) => unknown;

/** Objects with functions in them. Data is what it is. */
function isOurs(value: unknown): value is object {
  if (typeof value !== "object" || value === null || value instanceof Uint8Array || value instanceof Map) return false;
  if (Array.isArray(value)) return false;
  const prototype = Object.getPrototypeOf(value) as object | null;
  return prototype !== Object.prototype || Object.values(value).some((each) => typeof each === "function");
}
