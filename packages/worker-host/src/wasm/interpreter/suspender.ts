import type { CapabilityRequest, IsolateCall, IsolateOutcome, RegisteredTool } from "@keyhole/kernel";
import type { Engine } from "./engine.ts";
import type { InterpreterPort } from "./port.ts";
import { seal, type SealingKey, sealingKey, unseal } from "./sealed.ts";
import { readSnapshot, type Snapshot, versionOf, writeSnapshot } from "./snapshot.ts";
import type { TrackedPort } from "./tracked-port.ts";

export interface SuspensionOptions {
  /** 32 random bytes that only the hosts have which may resume. They encrypt what the tool knows, and tell whether it was changed. */
  readonly key: Uint8Array<ArrayBuffer>;
  /**
   * Whether nobody has resumed the snapshot of this id before; notes that somebody has now. Several processes need one that they share and that lasts. Default: what this host
   * remembers.
   */
  readonly claim?: (id: string) => boolean | Promise<boolean>;
}

interface Refusal<Code extends string> {
  readonly ok: false;
  readonly code: Code;
  readonly message: string;
}

export type Suspension =
  | {
      readonly ok: true;
      /** Encrypted. A snapshot can be resumed once. */
      readonly bytes: Uint8Array<ArrayBuffer>;
      readonly id: string;
      /** What the call waits for: asked again when it is resumed. */
      readonly outstanding: readonly CapabilityRequest[];
    }
  | Refusal<"NOT_CONFIGURED" | "NOT_WAITING">;

export type ResumeResult<Resumed> =
  | {
      readonly ok: true;
      readonly isolate: Resumed;
      readonly callId: string;
      readonly outcome: Promise<IsolateOutcome>;
    }
  | ResumeRefusal;

export type ResumeRefusal = Refusal<"NOT_CONFIGURED" | "CHANGED" | "OTHER_VERSION" | "OTHER_TOOL" | "ALREADY_RESUMED">;

const notConfigured = {
  ok: false,
  code: "NOT_CONFIGURED",
  message: "This host has no key for suspended calls: pass the option `suspension`.",
} as const;

const notWhole = {
  ok: false,
  code: "NOT_WAITING",
  message: "A call whose output is a stream, or that has a body, is not suspended: its caller is in the middle of it.",
} as const;

/** Writes calls that wait, and reads them back: what comes back is taken to be hostile until it is known to be what was written. */
export class Suspender {
  readonly #version: () => string;
  readonly #key: (() => Promise<SealingKey>) | undefined;
  readonly #claim: NonNullable<SuspensionOptions["claim"]>;

  constructor(engine: Engine, shell: string, options: SuspensionOptions | undefined) {
    let version: string | undefined;
    this.#version = () => (version ??= versionOf(engine, shell));
    let key: Promise<SealingKey> | undefined;
    this.#key = options && (() => (key ??= sealingKey(options.key)));
    this.#claim = options?.claim ?? claimHere();
  }

  /** Once this has succeeded, the machine is gone from its port. */
  async write(
    tool: RegisteredTool,
    port: InterpreterPort,
    running: { readonly call: IsolateCall; readonly tracked: TrackedPort } | undefined,
  ): Promise<Suspension> {
    if (this.#key === undefined) return notConfigured;
    const key = await this.#key();
    if (running === undefined) return notWaiting;
    const { call, tracked } = running;
    if (call.outputKind === "stream" || call.hasBody) return notWhole;
    tracked.hold();
    // What was answered before is on its way: it arrives within this turn.
    await new Promise((resolve) => setTimeout(resolve, 0));
    const { messages, requests, outstanding } = tracked;
    const suspended = port.suspend();
    if (suspended === undefined || suspended.callId !== call.callId) {
      tracked.release();
      return notWaiting;
    }
    const { image, used } = suspended;
    const id = crypto.randomUUID();
    const version = this.#version();
    const plain = writeSnapshot({
      id,
      version,
      toolHash: tool.hash,
      call,
      used,
      messages,
      requests,
      outstanding,
      image,
    });
    return { ok: true, bytes: await seal(key, plain), id, outstanding: outstanding.map(({ request }) => request) };
  }

  async read(
    tool: RegisteredTool,
    bytes: Uint8Array,
  ): Promise<{ readonly ok: true; readonly snapshot: Snapshot } | ResumeRefusal> {
    if (this.#key === undefined) return notConfigured;
    const plain = await unseal(await this.#key(), bytes);
    if (plain === undefined)
      return refused("CHANGED", "These are not the bytes of a suspended call, or they were sealed with another key.");
    const snapshot = readSnapshot(plain, this.#version());
    if (snapshot === undefined)
      return refused("OTHER_VERSION", "The call was suspended by another version of the kernel or its engine.");
    if (snapshot.toolHash !== tool.hash)
      return refused("OTHER_TOOL", `The call that was suspended is not one of ${tool.id} with this hash.`);
    if (!(await this.#claim(snapshot.id)))
      return refused("ALREADY_RESUMED", "The call was resumed before; it goes on there.");
    return { ok: true, snapshot };
  }
}

const notWaiting = {
  ok: false,
  code: "NOT_WAITING",
  message: "The isolate does not run exactly one call, or that call has just ended.",
} as const;

function refused(code: ResumeRefusal["code"], message: string): ResumeRefusal {
  return { ok: false, code, message };
}

function claimHere(): (id: string) => boolean {
  const claimed = new Set<string>();
  return (id) => {
    if (claimed.has(id)) return false;
    claimed.add(id);
    return true;
  };
}
