/**
 * Text of a function that notes every object of the language and of the global scope as it is now. What it returns puts them all back, and says whether
 * that was possible. It takes what it needs before an attempt can replace it, and makes no list while one is in place.
 */
export const puttingBack = `() => {
  const { ownKeys, getOwnPropertyDescriptor, getPrototypeOf, setPrototypeOf, defineProperty, deleteProperty } = Reflect;
  const { is, create } = Object;
  const noted = [];
  const seen = new Set([Object.prototype, globalThis]);
  for (const object of seen) {
    const keys = ownKeys(object);
    const known = create(null);
    const prototype = getPrototypeOf(object);
    if (prototype !== null) seen.add(prototype);
    for (const key of keys) {
      const property = getOwnPropertyDescriptor(object, key);
      setPrototypeOf(property, null);
      known[key] = property;
      for (const held of [property.value, property.get, property.set])
        if (typeof held === "function" || (typeof held === "object" && held !== null)) seen.add(held);
    }
    noted.push({ object, keys, known, prototype });
  }
  const isSame = (a, b) =>
    is(a.value, b.value) && a.get === b.get && a.set === b.set && a.writable === b.writable && a.configurable === b.configurable && a.enumerable === b.enumerable;
  const { length } = noted;
  return () => {
    let isClean = true;
    for (let n = 0; n < length; n++) {
      const { object, keys, known, prototype } = noted[n];
      if (getPrototypeOf(object) !== prototype && !setPrototypeOf(object, prototype)) isClean = false;
      const now = ownKeys(object);
      for (let i = 0; i < now.length; i++) if (known[now[i]] === undefined && !deleteProperty(object, now[i])) isClean = false;
      for (let i = 0; i < keys.length; i++) {
        const property = getOwnPropertyDescriptor(object, keys[i]);
        if ((property === undefined || !isSame(property, known[keys[i]])) && !defineProperty(object, keys[i], known[keys[i]])) isClean = false;
      }
    }
    return isClean;
  };
}`;
