import { install } from "./install.ts";

const wrappers = [Boolean, Number, String, BigInt] as const;
const errors = new Map<string, ErrorConstructor>(
  [Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError].map((type) => [type.name, type]),
);

function refused(what: string): never {
  throw new DOMException(`${what} could not be cloned.`, "DataCloneError");
}

/** The structured clone algorithm (HTML, section 2.7) over what a tool can have. */
function copy(value: unknown, done: Map<object, unknown>): unknown {
  if (typeof value === "function" || typeof value === "symbol") return refused(String(value).slice(0, 100));
  if (typeof value !== "object" || value === null) return value;
  if (done.has(value)) return done.get(value);
  const keep = <Copy>(made: Copy): Copy => {
    done.set(value, made);
    return made;
  };
  if (wrappers.some((type) => value instanceof type)) return keep(Object(value.valueOf()));
  if (value instanceof Date) return keep(new Date(value.getTime()));
  if (value instanceof RegExp) return keep(new RegExp(value.source, value.flags));
  if (value instanceof ArrayBuffer) return keep(value.slice(0));
  if (ArrayBuffer.isView(value)) return keep(copyView(value, done));
  if (value instanceof Map) {
    const made = keep(new Map<unknown, unknown>());
    for (const [key, each] of value as Map<unknown, unknown>) made.set(copy(key, done), copy(each, done));
    return made;
  }
  if (value instanceof Set) {
    const made = keep(new Set<unknown>());
    for (const each of value as Set<unknown>) made.add(copy(each, done));
    return made;
  }
  if (value instanceof Error) {
    const Type = errors.get(value.name) ?? Error;
    const made = keep(new Type(value.message));
    if (Object.hasOwn(value, "cause"))
      Object.defineProperty(made, "cause", { value: copy(value.cause, done), writable: true, configurable: true });
    return made;
  }
  if (value instanceof Promise || value instanceof WeakMap || value instanceof WeakSet) return refused("An object");
  const made = keep<object>(Array.isArray(value) ? Array.from({ length: value.length }) : {});
  if (Array.isArray(made)) for (let i = 0; i < made.length; i++) if (!(i in value)) Reflect.deleteProperty(made, i);
  for (const key of Object.keys(value)) {
    Object.defineProperty(made, key, {
      value: copy(Reflect.get(value, key), done),
      writable: true,
      enumerable: true,
      configurable: true,
    });
  }
  return made;
}

function copyView(view: ArrayBufferView, done: Map<object, unknown>): unknown {
  const buffer = copy(view.buffer, done) as ArrayBuffer;
  const length = view instanceof DataView ? view.byteLength : (view as Uint8Array).length;
  return Reflect.construct(view.constructor, [buffer, view.byteOffset, length]);
}

interface CloneOptions {
  readonly transfer?: readonly ArrayBuffer[];
}

function structuredClone(value: unknown, { transfer = [] }: CloneOptions = {}): unknown {
  const moved = new Map<object, unknown>();
  for (const buffer of transfer) {
    if (!(buffer instanceof ArrayBuffer)) return refused("An entry of the transfer list");
    moved.set(buffer, buffer.slice(0));
  }
  const made = copy(value, moved);
  for (const buffer of transfer) buffer.transfer();
  return made;
}

install({ structuredClone });
