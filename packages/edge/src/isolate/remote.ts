import type { Packet } from "./packet.ts";

/** An argument of RPC. Messages cross as packets; the only texts are names of ours. */
type Argument = Packet | string;

/** An argument of the type `object` is a stub. */
type Crosses<Value> = Value extends Argument
  ? true
  : unknown extends Value
    ? false
    : object extends Value
      ? true
      : false;

type Method<Args extends readonly unknown[]> = false extends { [At in keyof Args]: Crosses<Args[At]> }[number]
  ? never
  : (...args: Args) => Promise<unknown>;

/** The methods of an interface, as a stub of it has them. */
type MethodName<Api> = {
  [Name in keyof Api]: Api[Name] extends (...args: infer Args) => Promise<unknown>
    ? Api[Name] extends Method<Args>
      ? Name
      : never
    : never;
}[keyof Api] &
  string;

/** The far end of RPC, by the names of its methods. What they give is data: live references in it are dead. */
export type Remote<Api, Name extends MethodName<Api> = MethodName<Api>> = Pick<Api, Name>;

// Taken before a tool loads: inside an isolate this module runs beside hostile code. A replaced
// method would receive the stub, or the functions that call it. So this module calls no method by
// its name.
const { apply, defineProperty } = Reflect;

/**
 * The only way to call a stub. A result of RPC keeps its connection, two file descriptors at either end, until it is disposed: so each one is let go here, before
 * anybody sees it. That leaves the data, and ends every live reference that a guest may have put into it.
 *
 * A stub is typed as what it is for everybody else: a `Fetcher`, or an object without members. test/architecture-remote.test.ts refuses every cast of one.
 */
export function remote<Api, const Name extends MethodName<Api> = MethodName<Api>>(
  stub: object,
  names: readonly Name[],
): Remote<Api, Name> {
  const methods = stub as Readonly<Record<string, (...args: unknown[]) => unknown>>;
  const owning = {};
  for (let i = 0; i < names.length; i++) {
    const name = names[i]!;
    const value = (...args: unknown[]): unknown => received(() => apply(methods[name]!, stub, args));
    defineProperty(owning, name, { value });
  }
  return owning as Remote<Api, Name>;
}

async function received(ask: () => unknown): Promise<unknown> {
  const asked = ask();
  try {
    const result = await asked;
    dispose(result);
    return result;
  } finally {
    dispose(asked);
  }
}

/** Functions too: a stub that a guest returned in place of a result is one. */
function dispose(value: unknown): void {
  if ((typeof value !== "object" && typeof value !== "function") || value === null) return;
  const disposer = (value as Partial<Disposable>)[Symbol.dispose];
  if (typeof disposer === "function") apply(disposer, value, []);
}
