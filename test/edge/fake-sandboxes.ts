import type { IsolateLoader } from "../../packages/edge/src/isolate/loader.ts";
import { packed } from "../../packages/edge/src/isolate/packet.ts";
import { Rack, Standstill } from "../../packages/edge/src/isolate/sandbox-place.ts";
import { severalSandboxes } from "../../packages/edge/src/isolate/sandboxes.ts";

/** A sandbox whose process stands still from when a tool of the name `spin` runs until it is let go. It says when a call begins, and answers nothing while it stands still. */
class FakeSandbox implements IsolateLoader {
  readonly seen: string[] = [];
  readonly #tools = new Map<string, string>();
  #still: PromiseWithResolvers<void> | undefined;
  isGone = false;
  /** The tool that spins. */
  spins: string | undefined;

  spin(code?: string): Promise<void> {
    if (!this.#still) this.spins = code;
    return (this.#still ??= Promise.withResolvers()).promise;
  }

  go(): void {
    this.spins = undefined;
    this.#still?.resolve();
    this.#still = undefined;
  }

  die(): void {
    this.spins = undefined;
    this.#still?.promise.catch(() => {});
    this.#still?.reject(new Error("Network connection lost."));
    this.#still = undefined;
    this.#tools.clear();
  }

  async load(id: string, { code }: { readonly code: unknown }): Promise<unknown> {
    this.#assertThere();
    this.seen.push(`load ${id}`);
    await this.#still?.promise;
    this.#tools.set(id, String(code));
    if (String(code).startsWith("load late")) await new Promise((resolve) => setTimeout(resolve, 100));
    if (String(code).startsWith("spin at load")) await this.spin(String(code));
    await this.#still?.promise;
    return { type: "loaded" };
  }

  async call(
    id: string,
    _: unknown,
    target: object,
  ): Promise<{ readonly kind: "answered"; readonly outcome: unknown }> {
    this.seen.push(`call ${id}`);
    await this.#still?.promise;
    const channel = target as Channel;
    channel.begunAt ??= ++begun;
    const tool = this.#tools.get(id);
    if (tool === "wait, then spin") {
      await new Promise((resolve) => setTimeout(resolve, 10));
      await this.spin();
    }
    if (tool === "answer late") await new Promise((resolve) => setTimeout(resolve, 10));
    await this.#still?.promise;
    if (tool === "hang") await new Promise(() => {});
    if (/^spin( \d)?$/.test(tool ?? "")) await this.spin(tool);
    return { kind: "answered", outcome: tool };
  }

  async close(id: string): Promise<void> {
    this.seen.push(`close ${id}`);
  }

  async holds(id: string): Promise<boolean> {
    await this.#still?.promise;
    return this.#tools.has(id);
  }

  #assertThere(): void {
    if (this.isGone) throw new Error("Network connection lost.");
  }

  async ping(): Promise<void> {
    this.#assertThere();
    await this.#still?.promise;
  }
}

interface Channel {
  begunAt: number | undefined;
  heard: boolean;
}

let begun = 0;

export function opened(
  count: number,
  sandboxes = Array.from({ length: count }, () => new FakeSandbox()),
  rack: Rack = new Rack(),
) {
  const heldUp: number[] = [];
  const loader = severalSandboxes(sandboxes, { rack, onHeldUp: (sandbox) => void heldUp.push(sandbox) });
  const load = (id: string, code: string = id) => loader.load(id, { code, cpuMs: 1_000 });
  const call = (id: string, heard = false) => {
    const channel: Channel = { begunAt: undefined, heard };
    return loader.call(id, packed({}), channel, channel);
  };
  /** How it ends, at its time. */
  const ends = (promise: Promise<unknown>): { readonly end: () => string } => {
    let end = "open";
    promise.then(
      () => (end = "answered"),
      (error: unknown) => (end = error instanceof Standstill ? "standstill" : String(error)),
    );
    return { end: () => end };
  };
  /** As an isolate does: loaded again where it is to move. */
  const moving = async (id: string, code: string = id): Promise<void> => {
    for (;;)
      try {
        await load(id, code);
        return void (await call(id));
      } catch (error) {
        if (!(error instanceof Standstill)) throw error;
      }
  };
  return { sandboxes, rack, heldUp, loader, load, call, ends, moving };
}
