/**
 * A tool that walks its whole realm: from the globals, the context and what syntax alone makes, over every own key,
 * every prototype and every accessor, and over all that the functions on the way return or throw. It knows no list of names.
 *
 * Imported as text: the engine runs it as any other tool.
 */
const rows = new Map();
const names = new Map();
const texts = new Set();
const waiting = [];
/** Prototypes come after all that has a name of its own. */
const waitingPrototypes = [];
const classes = new Set();
const pending = [];
/** What settled in a task of the platform's own. */
const late = new Set();
let taskRuns = false;

/** Ends everything that microtasks alone can end. */
async function settled() {
  for (let turn = 0; turn < 2_000; turn++) await null;
}

/** Turns of the host's: the platform has its own between them. */
async function tasks(context) {
  await settled();
  taskRuns = true;
  for (let turn = 0; turn < 10; turn++)
    await context.files.read("nothing").catch((error) => given(error, "context.files.read() threw", 0));
  taskRuns = false;
  await settled();
}

const isObject = (value) => (typeof value === "object" && value !== null) || typeof value === "function";
const keyText = (key) => (typeof key === "symbol" ? `[${key.description}]` : key);
const isPlain = (proto) => proto === null || proto === Object.prototype || proto === Array.prototype;

function note(value) {
  if (typeof value === "string") texts.add(value.slice(0, 500));
  else if (typeof value === "number" && Number.isFinite(value)) texts.add(`number ${value}`);
}

/** Whether symbols that an engine made up lead anywhere. In Node they lead to the inside of its classes. */
let followsSymbols = true;
const wellKnown = new Set(Object.getOwnPropertyNames(Symbol).map((name) => Symbol[name]));
const isFollowed = (key) => followsSymbols || typeof key !== "symbol" || wellKnown.has(key);

/** Named by the first way to it; ways are tried in the order of their names, so that every run of an engine finds the same ones. */
function meet(value, name, depth = 0) {
  note(value);
  if (!isObject(value) || names.has(value) || depth > 6) return;
  names.set(value, name);
  waiting.push([value, name, depth]);
}

/** Engines keep some globals on the prototypes of the global object: their names are the same. */
function meetGlobals(realm) {
  const top = Reflect.getPrototypeOf({});
  for (let holder = realm; holder !== null && holder !== top; holder = Reflect.getPrototypeOf(holder)) {
    names.set(holder, "globalThis");
    for (const key of ownKeys(holder)) {
      const { value, get, set } = Reflect.getOwnPropertyDescriptor(holder, key);
      add("globalThis", keyText(key) + (get ? " get" : "") + (set ? " set" : ""));
      meet(value, keyText(key));
      meet(get, `${keyText(key)} get`);
      meet(set, `${keyText(key)} set`);
    }
  }
}

function add(holder, key) {
  const keys = rows.get(holder) ?? new Set();
  rows.set(holder, keys);
  keys.add(key);
}

/** What every function has. */
const ofFunctions = new Set(["length", "name", "prototype", "arguments", "caller"]);

function ownKeys(object) {
  try {
    return Reflect.ownKeys(object).sort((a, b) => (keyText(a) < keyText(b) ? -1 : 1));
  } catch {
    return [];
  }
}

function walk() {
  for (let next = waiting.shift() ?? nextPrototype(); next !== undefined; next = waiting.shift() ?? nextPrototype()) {
    const [object, name, depth] = next;
    const proto = Reflect.getPrototypeOf(object);
    for (const key of ownKeys(object)) {
      if (/^\d+$/.test(keyText(key))) continue;
      const { value, get, set } = Reflect.getOwnPropertyDescriptor(object, key) ?? {};
      const path = `${name}.${keyText(key)}`;
      const isUsual = typeof object === "function" && ofFunctions.has(key) && get === undefined;
      const isOwnPrototype = key === "constructor" && ownKeys(object).length === 1;
      if (!isUsual && !isOwnPrototype) add(name, keyText(key) + (get ? " get" : "") + (set ? " set" : ""));
      if (!isFollowed(key)) continue;
      meet(value, path, depth + (isPlain(proto) ? 1 : 0));
      meet(get, `${path} get`, depth);
      meet(set, `${path} set`, depth);
    }
    if (proto !== null) waitingPrototypes.push([proto, name, depth]);
    if (typeof object === "function") classes.add(object);
  }
}

function nextPrototype() {
  for (let next = waitingPrototypes.shift(); next !== undefined; next = waitingPrototypes.shift()) {
    const [proto, name, depth] = next;
    meet(proto, className(proto) ?? `${name}.__proto__`, depth);
    if (waiting.length > 0) return waiting.shift();
  }
  return undefined;
}

/** A module of WebAssembly with a memory, a table, a global, a tag and a function that throws. */
const wasm = new Uint8Array([
  0, 97, 115, 109, 1, 0, 0, 0, 1, 4, 1, 96, 0, 0, 3, 2, 1, 0, 4, 4, 1, 112, 0, 1, 5, 3, 1, 0, 1, 6, 6, 1, 127, 0, 65, 0,
  11, 7, 17, 4, 1, 102, 0, 0, 1, 116, 1, 0, 1, 109, 2, 0, 1, 103, 3, 0, 10, 5, 1, 3, 0, 0, 11,
]);

const templates = () => {
  const list = [
    [],
    ["a"],
    [1],
    [{}],
    [() => "a"],
    [[["a", "b"]]],
    [new Uint8Array(wasm)],
    ["https://a.example/b?c#d", "https://e.example"],
    [undefined, { type: "region", timeZone: undefined }],
    [{ initial: 1, element: "anyfunc", value: "i32", mode: "byob", type: "bytes", parameters: [] }, []],
  ];
  try {
    list.push([new WebAssembly.Module(wasm)], [new WebAssembly.Tag({ parameters: [] }), [], { traceStack: true }]);
  } catch {
    // The interpreter has no WebAssembly.
  }
  if (typeof ReadableStream === "function")
    list.push(
      [new ReadableStream({ start: (c) => meet(c, "(controller)") })],
      [new WritableStream({ start: (c) => meet(c, "(writable controller)") })],
    );
  if (typeof TransformStream === "function")
    list.push([new TransformStream({ start: (c) => meet(c, "(transform controller)") })]);
  return list;
};

/** An object that some call gave. What is of a class that was met bears the name of that class. */
function given(value, way, depth) {
  note(value);
  if (!isObject(value) || names.has(value)) return;
  if (value instanceof Promise) {
    const settles = (result, how) => {
      if (taskRuns && !way.startsWith("context")) late.add(way);
      given(result, how, depth);
    };
    pending.push(
      value.then(
        (result) => settles(result, `await ${way}`),
        (error) => settles(error, `${way} rejected`),
      ),
    );
  }
  if (typeof value === "function") return meet(value, way, depth);
  const proto = Reflect.getPrototypeOf(value);
  if (isPlain(proto)) return parts(value, way, depth);
  if (!names.has(proto)) meet(proto, className(proto) ?? `${way}.__proto__`, depth);
  const known = names.get(proto);
  const name = known?.endsWith(".prototype") ? known.slice(0, -10) : known;
  const times = explored.get(proto) ?? 0;
  explored.set(proto, times + 1);
  // What is made directly is each time made of something else; errors are not.
  if (times > 2 && (!way.startsWith("new ") || value instanceof Error)) return;
  meet(value, `${name}{}`, depth);
  explore(value, `${name}{}`, depth + 1);
}

/** Of a class that is no global: what it calls its instances. */
function className(proto) {
  if (proto instanceof Error) return `%an error's class of the engine%`;
  const { value } = Reflect.getOwnPropertyDescriptor(proto, Symbol.toStringTag) ?? {};
  return typeof value === "string" ? `%${value}%` : undefined;
}

/** A plain object or a list is no more than its parts. */
function parts(value, way, depth) {
  if (depth > 4) return;
  names.set(value, way);
  for (const key of ownKeys(value).slice(0, 50)) {
    const { value: part, get } = Reflect.getOwnPropertyDescriptor(value, key);
    given(part, `${way}.${keyText(key)}`, depth + 1);
    meet(get, `${way}.${keyText(key)} get`, depth);
  }
}

const explored = new Map();

/** Reads every accessor and calls every method of an instance. */
function explore(instance, name, depth) {
  if (depth > 4) return;
  for (
    let holder = Reflect.getPrototypeOf(instance);
    holder !== null && holder !== Object.prototype;
    holder = Reflect.getPrototypeOf(holder)
  ) {
    for (const key of ownKeys(holder)) {
      if (key === "constructor" || !isFollowed(key)) continue;
      const { value, get } = Reflect.getOwnPropertyDescriptor(holder, key);
      const way = `${name}.${keyText(key)}`;
      if (get) tried(() => Reflect.apply(get, instance, []), way, depth);
      if (typeof value === "function")
        for (const list of templates()) tried(() => Reflect.apply(value, instance, list), `${way}()`, depth);
    }
  }
}

function tried(work, way, depth) {
  try {
    given(work(), way, depth);
  } catch (error) {
    given(error, `${way} threw`, depth);
  }
}

/** Would change the realm itself, or end the walk. */
const untried = new Set([
  "Function",
  "Object.create",
  "Object.getOwnPropertyDescriptors",
  "Object.setPrototypeOf",
  "Reflect.setPrototypeOf",
]);

function call(callee, name) {
  if (untried.has(name) || name.includes("prototype") || name.endsWith(" set")) return;
  for (const list of templates()) {
    tried(() => Reflect.construct(callee, list), `new ${name}()`, 1);
    tried(() => Reflect.apply(callee, undefined, list), `${name}()`, 1);
  }
}

const open = "(";
const evaluate = Reflect.get(globalThis, "eval");
/** What an engine refuses, each in words of its own. */
const failing = [
  () => null.x,
  () => undefinedName,
  () => decodeURI("%"),
  () => Reflect.construct(Array, [-1]),
  () => BigInt(1.5),
  () => JSON.parse(open),
  () => structuredClone(() => {}),
  () => new RegExp(open),
  () => Reflect.apply(String.prototype.concat, "", [Symbol("a")]),
  () => evaluate(open),
  () => Reflect.construct((() => {}).constructor, [open]),
];

export default {
  code: {
    async execute({ follow }, context) {
      followsSymbols = follow;
      const realm = globalThis;
      meetGlobals(realm);
      walk();
      meet(context, "context");
      walk();
      const made = {
        "(async function)": async () => {},
        "(generator)": (function* () {})(),
        "(async generator)": (async function* () {})(),
        "(array iterator)": [][Symbol.iterator](),
        "(string iterator)": ""[Symbol.iterator](),
        "(map iterator)": new Map()[Symbol.iterator](),
        "(set iterator)": new Set()[Symbol.iterator](),
        "(match iterator)": "".matchAll(/a/g),
        "(template)": ((strings) => strings)`a`,
        "(arguments)": (function () {
          return arguments;
        })(),
        "(typed array)": new Uint8Array(1),
      };
      for (const [name, value] of Object.entries(made)) {
        meet(value, name);
        walk();
      }
      for (const [index, fail] of failing.entries()) tried(fail, `failing ${index}`, 0);
      walk();
      for (let round = 0; round < 3; round++) {
        const known = [...classes];
        classes.clear();
        for (const callee of known) call(callee, names.get(callee));
        await tasks(context);
        walk();
      }
      return {
        rows: [...rows]
          .map(([holder, keys]) => [holder, [...keys].sort((a, b) => (a < b ? -1 : 1))])
          .sort(([a], [b]) => (a < b ? -1 : 1)),
        texts: [...texts],
        late: [...late].toSorted((a, b) => (a < b ? -1 : 1)),
      };
    },
  },
};
