/** The Worker in which tools run where the kernel must not share their process: a tool that spins takes this one down, and only this one. */
import { DurableObject, WorkerEntrypoint } from "cloudflare:workers";
import type { IsolateCall } from "@keyhole/kernel";
import { type IsolateLoader, type LoadedTool, type LoaderAnswer, sandboxLoader } from "./isolate/loader.ts";
import { IsolateRack } from "./isolate/rack.ts";

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

  ping(): Promise<void> {
    return this.#rack.ping();
  }
}

export default class Sandbox extends WorkerEntrypoint<SandboxEnv> implements IsolateLoader {
  load(id: string, tool: LoadedTool): Promise<unknown> {
    return this.#rack().load(id, tool);
  }

  call(id: string, call: IsolateCall, target: object): Promise<LoaderAnswer> {
    return this.#rack().call(id, call, target);
  }

  close(id: string): Promise<void> {
    return this.#rack().close(id);
  }

  ping(): Promise<void> {
    return this.#rack().ping();
  }

  /** The heartbeat: it answers for as long as nothing spins. Without its bindings it could run no tool. */
  override fetch(): Response {
    const { LOADER, RACK } = this.env as Partial<SandboxEnv>;
    const isBound = LOADER !== undefined && RACK !== undefined;
    return Response.json({ status: isBound ? "ok" : "unavailable" }, { status: isBound ? 200 : 503 });
  }

  #rack(): IsolateLoader {
    return sandboxLoader(this.env.RACK.getByName("rack"));
  }
}
