import type { LoadedCode, LoadedModule } from "@keyhole/worker-host/protocol";
import { type Packet, packed } from "./packet.ts";
import { remote } from "./remote.ts";

/**
 * The part between the host and the dynamic Workers: the registry in this Worker ({@link IsolateRegistry}), or one in another process
 * ({@link sandboxLoader}). A rejection means that the way there broke; each `unknown` value comes from a guest and is hostile.
 */
export interface IsolateLoader {
  /** Puts a tool's module into an isolate of its own. Gives a `GuestMessage` of type `loaded` or `load-failed`. */
  load(id: string, tool: LoadedTool): Promise<unknown>;
  /**
   * @param call an `IsolateCall`
   * @param target the call's `CallTarget`, or a stub of it: only the guest's shell has anything to ask of it
   * @param progress how far the call is: where there are several sandboxes, it may be done again in another one while nothing was heard of it
   */
  call(id: string, call: Packet, target: object, progress: CallProgress): Promise<LoaderAnswer>;
  /** Lets go of the isolate. */
  close(id: string): Promise<void>;
  /** Whether it has the isolate: a restarted sandbox has none. */
  holds(id: string): Promise<boolean>;
  /** Resolves when the way there is open. */
  ping(): Promise<void>;
  /** Whether the guest announces the start of a call, before code of its tool runs. */
  readonly announces?: boolean;
  /** Where there are several sandboxes: which of them has the isolate, from 0. */
  placeOf?(id: string): number;
  /**
   * Asks to be told of each time that the isolate's sandbox stands still although nothing runs there that has a deadline. `isAlone`: no other tool can be what goes on in it.
   * Where no part can tell a tool from a slow machine, it never is.
   */
  watch?(id: string, onStill: (isAlone: boolean) => void): void;
  /** Where there are several sandboxes: whether that of the isolate stands still, and this isolate is the likeliest cause. */
  suspects?(id: string): boolean;
  /** Where there are several sandboxes: whether the load of the isolate is what holds up its sandbox. It stands still, and no other tool was there since before the load. */
  holdsUp?(id: string): boolean;
}

/** How far a call is, read when it matters. */
export interface CallProgress {
  /** When its sandbox said that the guest is about to run, in the order of all calls of this process. Absent before that. */
  readonly begunAt: number | undefined;
  /** Whether the guest has sent anything: where it has not, nothing that it did can have had an effect. */
  readonly heard: boolean;
}

/** The same for many registries, each by its name: the kernels that share a sandbox have one each, and none waits for the isolates of another. */
export interface IsolateRegistries {
  /** @param tool a {@link LoadedTool} */
  load(registry: string, id: string, tool: Packet): Promise<unknown>;
  call(registry: string, id: string, call: Packet, target: object): Promise<LoaderAnswer>;
  close(registry: string, id: string): Promise<void>;
  holds(registry: string, id: string): Promise<boolean>;
  ping(registry: string): Promise<void>;
}

/** `absent`: the registry holds no such isolate, and nothing ran. `outcome`: a {@link Packet}, where the guest is honest. */
export type LoaderAnswer = { readonly kind: "absent" } | { readonly kind: "answered"; readonly outcome: unknown };

/** Data only: it may cross to another process. */
export interface LoadedTool {
  /** An ES module without imports, or a metered module of WebAssembly as bytes. */
  readonly code: LoadedCode;
  /** CPU time of one call, after which Cloudflare ends it. workerd on its own ignores it. */
  readonly cpuMs: number;
}

/** The start options of a WebAssembly module. */
export type ModuleStart = Omit<LoadedModule, "module">;

/**
 * Isolates in another Worker, which can die without taking the kernel with it. RPC goes out once: no part on the way repeats it.
 *
 * @param registry the tenant of the isolates
 */
export function sandboxLoader(sandbox: Fetcher, registry: string): IsolateLoader {
  const registries = remote<IsolateRegistries>(sandbox, ["load", "call", "close", "holds", "ping"]);
  return {
    announces: true,
    load: (id, tool) => registries.load(registry, id, packed(tool)),
    call: (id, call, target) => registries.call(registry, id, call, target),
    close: (id) => registries.close(registry, id),
    holds: (id) => registries.holds(registry, id),
    ping: () => registries.ping(registry),
  };
}
