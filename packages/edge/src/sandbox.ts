/** The Worker in which tools run where the kernel must not share their process: a tool that spins takes this one down, and only this one. */
import { DurableObject, WorkerEntrypoint } from "cloudflare:workers";
import type { LoadedTool, LoaderAnswer, IsolateRegistries } from "./isolate/loader.ts";
import { IsolateRegistry } from "./isolate/isolate-registry.ts";
import { type Packet, unpacked } from "./isolate/packet.ts";
import { remote } from "./isolate/remote.ts";

interface SandboxEnv {
  readonly LOADER: WorkerLoader;
  readonly REGISTRY: DurableObjectNamespace;
}

/** One of the {@link IsolateRegistries}, as the Worker before it has it. */
interface RegistryEnd {
  load(id: string, tool: Packet): Promise<unknown>;
  call(id: string, call: Packet, target: object): Promise<LoaderAnswer>;
  close(id: string): Promise<void>;
  holds(id: string): Promise<boolean>;
  ping(): Promise<void>;
}

/** Holds the isolates between requests; see {@link IsolateRegistry}. Stores nothing. */
export class IsolateRegistryObject extends DurableObject<SandboxEnv> implements RegistryEnd {
  readonly #registry = new IsolateRegistry(this.env.LOADER, true);

  async load(id: string, tool: Packet): Promise<unknown> {
    return this.#registry.load(id, unpacked(tool) as LoadedTool);
  }

  call(id: string, call: Packet, target: object): Promise<LoaderAnswer> {
    return this.#registry.call(id, call, target);
  }

  close(id: string): Promise<void> {
    return this.#registry.close(id);
  }

  holds(id: string): Promise<boolean> {
    return this.#registry.holds(id);
  }

  ping(): Promise<void> {
    return this.#registry.ping();
  }
}

export default class Sandbox extends WorkerEntrypoint<SandboxEnv> implements IsolateRegistries {
  load(registry: string, id: string, tool: Packet): Promise<unknown> {
    return this.#registry(registry).load(id, tool);
  }

  call(registry: string, id: string, call: Packet, target: object): Promise<LoaderAnswer> {
    return this.#registry(registry).call(id, call, target);
  }

  close(registry: string, id: string): Promise<void> {
    return this.#registry(registry).close(id);
  }

  holds(registry: string, id: string): Promise<boolean> {
    return this.#registry(registry).holds(id);
  }

  ping(registry: string): Promise<void> {
    return this.#registry(registry).ping();
  }

  /** The heartbeat: it answers for as long as nothing spins. Without its bindings it could run no tool. */
  override fetch(): Response {
    const { LOADER, REGISTRY } = this.env as Partial<SandboxEnv>;
    const isBound = LOADER !== undefined && REGISTRY !== undefined;
    return Response.json({ status: isBound ? "ok" : "unavailable" }, { status: isBound ? 200 : 503 });
  }

  #registry(name: string): RegistryEnd {
    return remote<RegistryEnd>(this.env.REGISTRY.getByName(name), ["load", "call", "close", "holds", "ping"]);
  }
}
