/** The Worker in which tools run where the kernel must not share their process: a tool that spins takes this one down, and only this one. */
import { DurableObject, WorkerEntrypoint } from "cloudflare:workers";
import type { IsolateCall } from "@keyhole/kernel";
import type { IsolateLoader, LoadedTool, LoaderAnswer, Racks } from "./isolate/loader.ts";
import { IsolateRack } from "./isolate/rack.ts";
import { remote } from "./isolate/remote.ts";

interface SandboxEnv {
  readonly LOADER: WorkerLoader;
  readonly RACK: DurableObjectNamespace;
}

/** Holds the isolates between requests; see {@link IsolateRack}. Stores nothing. */
export class RackObject extends DurableObject<SandboxEnv> implements IsolateLoader {
  readonly #rack = new IsolateRack(this.env.LOADER);

  load(id: string, tool: LoadedTool): Promise<unknown> {
    return this.#rack.load(id, tool);
  }

  call(id: string, call: IsolateCall, target: object): Promise<LoaderAnswer> {
    return this.#rack.call(id, call, target);
  }

  close(id: string): Promise<void> {
    return this.#rack.close(id);
  }

  holds(id: string): Promise<boolean> {
    return this.#rack.holds(id);
  }

  ping(): Promise<void> {
    return this.#rack.ping();
  }
}

export default class Sandbox extends WorkerEntrypoint<SandboxEnv> implements Racks {
  load(rack: string, id: string, tool: LoadedTool): Promise<unknown> {
    return this.#rack(rack).load(id, tool);
  }

  call(rack: string, id: string, call: IsolateCall, target: object): Promise<LoaderAnswer> {
    return this.#rack(rack).call(id, call, target);
  }

  close(rack: string, id: string): Promise<void> {
    return this.#rack(rack).close(id);
  }

  holds(rack: string, id: string): Promise<boolean> {
    return this.#rack(rack).holds(id);
  }

  ping(rack: string): Promise<void> {
    return this.#rack(rack).ping();
  }

  /** The heartbeat: it answers for as long as nothing spins. Without its bindings it could run no tool. */
  override fetch(): Response {
    const { LOADER, RACK } = this.env as Partial<SandboxEnv>;
    const isBound = LOADER !== undefined && RACK !== undefined;
    return Response.json({ status: isBound ? "ok" : "unavailable" }, { status: isBound ? 200 : 503 });
  }

  #rack(name: string): IsolateLoader {
    return remote<IsolateLoader>(this.env.RACK.getByName(name), ["load", "call", "close", "holds", "ping"]);
  }
}
