import { type CallPort, type Isolate, type IsolateCall, IsolateFailure, type IsolateOutcome } from "@keyhole/kernel";
import { parseGuestMessage } from "@keyhole/worker-host/protocol";
import { CallChannel } from "./call-channel.ts";
import type { IsolateLoader, LoadedTool } from "./loader.ts";
import { readMetered } from "./metered.ts";
import { packed, unpackedOfGuest } from "./packet.ts";
import { Standstill } from "./sandbox-place.ts";

/** A shell that hears of the end stops its Worker within a few milliseconds. After this its process may be standing still: a watcher should look. */
const unresponsiveMs = 100;
/** After this it does not want to end: a tool has taken the shell's place. */
const defiantMs = 2_000;
/** How often a sandbox that is being restarted is asked whether it is back. */
const reconnectEveryMs = 50;
/** How long a sandbox may take to say what it holds. An ended one never answers. */
const holdsMs = 1_000;
/** How often a load is asked about that has not ended. */
const lookAtLoadMs = 250;
/** The registry does not try a module forever that takes its process down while it loads. */
const maxLoads = 3;

/**
 * Called when a guest has not ended although it was told to. `suspected`: its process may be standing still, or only be busy. `certain`: whatever its process
 * does otherwise, this guest continues. `sandbox`: which of several, from 0.
 */
export type OnUnresponsive = (how: "suspected" | "certain", sandbox: number) => void;

interface Surroundings {
  readonly loader: IsolateLoader;
  readonly onUnresponsive: OnUnresponsive;
  /** How long a sandbox that cannot be reached may take to come back. */
  readonly startTimeoutMs: number;
  /** Whether a call waits for it: the deadline of a call ends its load too. */
  readonly isWanted: () => boolean;
  readonly onClosed: () => void;
}

/** One call, and its channel: another one when it runs again. */
interface Running {
  readonly call: IsolateCall;
  readonly port: CallPort;
  channel: CallChannel;
}

type Lost = Extract<IsolateOutcome, { kind: "lost" }>;

/** One tool in a dynamic Worker. */
export class EdgeIsolate implements Isolate {
  readonly #id = crypto.randomUUID();
  readonly #around: Surroundings;
  readonly #tool: LoadedTool;
  readonly #stops = new Set<(reason: string) => void>();
  /** Calls that the sandbox has not answered, also those for which the approval is closed. */
  readonly #unanswered = new Set<object>();
  readonly #running = new Map<string, Running>();
  /** Sandboxes that stood still while a call ran there, which then went on in another one. It may be this tool that holds them up. */
  readonly #left = new Set<number>();
  /** Sandboxes that stood still while the module loaded there. */
  readonly #leftLoading = new Set<number>();
  /** Whether it loads again only, for a call that it has. */
  #isOpen = false;
  #alive = true;
  /** Whether its module, and nothing else, held up its sandbox: then it is why that ended. */
  #stuck = false;

  constructor(around: Surroundings, tool: LoadedTool) {
    this.#around = around;
    this.#tool = tool;
  }

  /** @throws {IsolateFailure} */
  static async open(around: Surroundings, tool: LoadedTool): Promise<EdgeIsolate> {
    const isolate = new EdgeIsolate(around, tool);
    try {
      await isolate.#load();
    } catch (error) {
      around.loader.close(isolate.#id).catch(() => {}); // Its place is free.
      throw error;
    }
    isolate.#isOpen = true;
    return isolate;
  }

  get alive(): boolean {
    return this.#alive;
  }

  async call(call: IsolateCall, port: CallPort): Promise<IsolateOutcome> {
    if (!this.#alive) return lost("the isolate is not alive");
    const running: Running = { call, port, channel: new CallChannel(call, port) };
    const stopped = Promise.withResolvers<Lost>();
    const stop = (reason: string): void => {
      running.channel.end();
      stopped.resolve(lost(reason));
    };
    this.#stops.add(stop);
    this.#running.set(call.callId, running);
    try {
      const outcome = await Promise.race([this.#run(running), stopped.promise]);
      if (outcome.kind === "lost" || (outcome.kind === "too-large" && outcome.what === "messages"))
        this.terminate(outcome.kind);
      return outcome;
    } finally {
      running.channel.end();
      this.#stops.delete(stop);
      this.#running.delete(call.callId);
    }
  }

  ranMs(callId: string): number | undefined {
    return this.#around.loader.announces === true ? this.#running.get(callId)?.channel.ranMs : undefined;
  }

  watch(onWentOn: () => void): void {
    const { loader, onUnresponsive } = this.#around;
    loader.watch?.(this.#id, (isAlone) => {
      onUnresponsive("suspected", this.#place);
      if (!isAlone || !this.#alive) return;
      this.terminate("its tool continues without a call");
      onWentOn();
    });
  }

  terminate(reason: string): void {
    if (!this.#alive) return;
    this.#alive = false;
    for (const stop of this.#stops) stop(reason);
    this.#watchEnd("suspected", unresponsiveMs);
    this.#watchEnd("certain", defiantMs);
    for (const place of this.#left) setTimeout(() => this.#around.onUnresponsive("suspected", place), unresponsiveMs);
    this.#around.loader.close(this.#id).catch(() => {}); // A sandbox that is gone holds nothing.
    this.#around.onClosed();
  }

  get #place(): number {
    return this.#around.loader.placeOf?.(this.#id) ?? 0;
  }

  #watchEnd(how: "suspected" | "certain", afterMs: number): void {
    if (this.#unanswered.size === 0) return;
    const { onUnresponsive } = this.#around;
    const place = this.#place;
    setTimeout(() => {
      if (this.#unanswered.size > 0) onUnresponsive(how, place);
    }, afterMs);
  }

  /**
   * Runs the call, and a second time when the sandbox died under it before its guest had sent anything: the guest's only way to an effect is the channel,
   * so nothing can have happened. One whose sandbox stands still runs in another one, with a channel of its own. The old guest may wake up: its channel ends first.
   */
  async #run(running: Running): Promise<IsolateOutcome> {
    for (let deaths = 0; deaths < 2;) {
      const { call, port, channel } = running;
      const end = await Promise.race([this.#sent(running), channel.broken]);
      if (end !== "died" && end !== "standstill") return end;
      if (end === "died") deaths++;
      else if (channel.begunAt !== undefined) this.#left.add(this.#place);
      channel.end();
      if (channel.heard || !this.#alive || deaths === 2) break;
      try {
        await this.#load();
      } catch {
        break;
      }
      running.channel = new CallChannel(call, port);
    }
    const reason = "the dynamic Worker ended";
    return (await this.#isHeld()) ? lost(reason) : { kind: "lost", reason, blame: "host" };
  }

  async #sent({ call, port, channel }: Running): Promise<IsolateOutcome | "died" | "standstill"> {
    const sent = {};
    this.#unanswered.add(sent);
    try {
      const answer = await this.#around.loader.call(this.#id, packed(call), channel.target, channel);
      return answer.kind === "answered" ? this.#settle(channel, port, answer.outcome) : "died";
    } catch (error) {
      // The way to the sandbox broke, or the dynamic Worker ended.
      return error instanceof Standstill ? "standstill" : "died";
    } finally {
      this.#unanswered.delete(sent);
    }
  }

  /** Where its sandbox is there and has it, the dynamic Worker ended alone. Otherwise the sandbox did. */
  async #isHeld(): Promise<boolean> {
    try {
      return await within(holdsMs, this.#around.loader.holds(this.#id), new Error("late"));
    } catch {
      return false;
    }
  }

  #settle(channel: CallChannel, port: CallPort, returned: unknown): IsolateOutcome {
    const answer = unpackedOfGuest(returned);
    return typeof this.#tool.code === "string" ? channel.outcomeOf(answer) : meteredOutcome(channel, port, answer);
  }

  async #load(): Promise<void> {
    // Module code can spin as well, and no other part notices: the kernel's deadline only ends the wait.
    const stuck = setTimeout(() => this.#endLoad(), this.#tool.cpuMs);
    const looks = setInterval(() => this.#lookAtLoad(), lookAtLoadMs);
    try {
      const answer = parseGuestMessage(await this.#loadAnswer());
      if (typeof answer === "string" || (answer.type !== "loaded" && answer.type !== "load-failed")) {
        throw new IsolateFailure("ISOLATE_LOST", "The isolate's answer is not a message of the shell.");
      }
      if (answer.type === "load-failed") {
        throw new IsolateFailure(
          "TOOL_ERROR",
          `The isolate cannot load the tool's code: ${answer.name}: ${answer.message}`.trim(),
          {},
          "code",
        );
      }
    } finally {
      clearTimeout(stuck);
      clearInterval(looks);
      this.#leftLoading.clear();
    }
  }

  #endLoad(): void {
    this.#stuck ||= this.#around.loader.holdsUp?.(this.#id) === true;
    for (const place of [this.#place, ...this.#leftLoading]) this.#around.onUnresponsive("suspected", place);
  }

  /** One of another tool that only waits for its turn ends with no process: what holds it up may be a call with time left. */
  #lookAtLoad(): void {
    const { loader, isWanted } = this.#around;
    if (!this.#isOpen && !isWanted() && loader.suspects?.(this.#id) === true) this.#endLoad();
  }

  /** Loading may be repeated: the module has no channel to anything. */
  async #loadAnswer(): Promise<unknown> {
    for (let deaths = 0; deaths < maxLoads;) {
      try {
        return await this.#around.loader.load(this.#id, this.#tool);
      } catch (error) {
        const hasMoved = error instanceof Standstill;
        if (hasMoved) this.#leftLoading.add(this.#place);
        // Another load would take another process along.
        if (this.#stuck || (!this.#isOpen && !this.#around.isWanted())) break;
        if (hasMoved) continue;
        deaths++;
        await untilReachable(this.#around);
      }
    }
    const blame = this.#stuck ? "tool" : "host";
    throw new IsolateFailure("ISOLATE_LOST", "The isolate ended while it loaded the tool's code.", {}, blame);
  }
}

function lost(reason: string): Lost {
  return { kind: "lost", reason };
}

function meteredOutcome(channel: CallChannel, port: CallPort, returned: unknown): IsolateOutcome {
  const answer = readMetered(returned);
  if (answer === undefined) return lost("protocol: an answer without the call's usage");
  port.used?.(answer.usage);
  return answer.exhausted ?? channel.outcomeOf(answer.outcome);
}

async function untilReachable({ loader, startTimeoutMs }: Surroundings): Promise<void> {
  const late = new IsolateFailure(
    "ISOLATE_LOST",
    `The sandbox in which tools run did not answer within ${startTimeoutMs} ms.`,
    { hint: "Try again in a few seconds." },
    "host",
  );
  const giveUpAt = performance.now() + startTimeoutMs;
  while (performance.now() < giveUpAt) {
    try {
      return await within(giveUpAt - performance.now(), loader.ping(), late);
    } catch (error) {
      if (error === late) break;
      await new Promise((resolve) => setTimeout(resolve, reconnectEveryMs));
    }
  }
  throw late;
}

/** A sandbox that stands still answers nothing, not even with a failure. */
async function within<Answer>(timeoutMs: number, answer: Promise<Answer>, late: Error): Promise<Answer> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(late), timeoutMs);
  try {
    return await Promise.race([answer, promise]);
  } finally {
    clearTimeout(timer);
  }
}
