import { type Clock, type Kernel, systemClock } from "@keyhole/kernel";
import { knownOptions } from "@keyhole/kernel/foreign";
import type { BusPort } from "../port.ts";
import { Reports } from "../reports.ts";
import { partitions, Subjects } from "../wire/subjects.ts";
import type { BusCallers } from "./callers.ts";
import { CallServer } from "./call-server.ts";
import { DescribeServer } from "./describe-server.ts";
import { Offers } from "./offers.ts";

/** Of kernels that serve the same tools, one runs each call. */
const queue = "keyhole";

/** Which part of all idempotency keys a kernel owns: it is number `index`, from 0, of `of` kernels. */
export interface KeyShare {
  readonly index: number;
  readonly of: number;
}

export interface BusServerOptions {
  /** Says who sent a request: {@link sealedCallers} or {@link everyCaller}. */
  readonly callers: BusCallers;
  /** Begins all subjects. Default `keyhole.tool`. */
  readonly prefix?: string;
  /** Prefixes of the subjects to which answers go: `inboxPrefix` of each caller. The kernel drops a request with another one. Default `_INBOX`. */
  readonly inboxes?: readonly string[];
  /** Names of the tools to offer. Default: all that do not come from a bus themselves. */
  readonly tools?: readonly string[];
  /**
   * The idempotency keys that this kernel owns. No other kernel may own them, and its log has to outlive it: the log knows which keys are used. Default: none, and calls with a key are
   * for other kernels.
   */
  readonly keys?: KeyShare;
  readonly clock?: Clock;
  /** Receives dropped messages and faults of the connection, at most ten at once and then one a second. Default: none. */
  readonly onError?: (error: Error) => void;
}

/** Tools that are served until it is closed. */
export interface BusServer {
  /** Names of the tools that are offered now. */
  readonly tools: readonly string[];
  /** Takes no more requests. Resolves when the running ones have their answers. */
  close(): Promise<void>;
}

/**
 * Offers a kernel's tools on a bus. Kernels that offer the same tool share its calls. Policy, approvals, bounds and the log are the kernel's.
 *
 * @throws TypeError for a prefix or a share of keys that is none
 * @throws Error where the connection was lost
 * @example
 * const server = await serveOnBus(kernel, natsBus(connection), { callers: sealedCallers(pairs) });
 */
export async function serveOnBus(kernel: Kernel, port: BusPort, options: BusServerOptions): Promise<BusServer> {
  const known = knownOptions(
    options,
    { callers: true, prefix: true, inboxes: true, tools: true, keys: true, clock: true, onError: true },
    "serveOnBus",
  );
  const server = new KernelServer(kernel, port, known);
  await port.flush();
  server.announce();
  return server;
}

class KernelServer implements BusServer {
  readonly #port: BusPort;
  readonly #subjects: Subjects;
  readonly #offers: Offers;
  readonly #owned: readonly number[];
  readonly #calls: CallServer;
  readonly #stops: (() => void)[] = [];
  readonly #byTool = new Map<string, readonly (() => void)[]>();
  #isClosed = false;

  constructor(kernel: Kernel, port: BusPort, options: BusServerOptions) {
    const { callers, prefix, inboxes, tools, keys, clock = systemClock, onError = () => {} } = options;
    this.#port = port;
    this.#subjects = new Subjects(prefix, inboxes);
    this.#owned = keys ? ownedPartitions(keys) : [];
    this.#offers = new Offers(kernel, tools);
    const { report } = new Reports(clock, onError);
    const ports = { kernel, port, subjects: this.#subjects, callers, offers: this.#offers, clock, onError: report };
    this.#calls = new CallServer(ports);
    const describing = new DescribeServer(ports);
    this.#stops.push(port.subscribe(this.#subjects.describePattern, (message) => describing.answer(message)));
    this.#stops.push(port.onReconnect(() => this.#calls.again()));
    this.#stops.push(port.onFault(report));
    this.#stops.push(kernel.onToolsChange(() => void this.#changed()));
    this.#subscribe();
  }

  get tools(): readonly string[] {
    return [...this.#byTool.keys()];
  }

  announce(): void {
    this.#port.publish(this.#subjects.announce, { headers: new Map(), body: new Uint8Array() });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const stop of this.#stops) stop();
    for (const stops of this.#byTool.values()) for (const stop of stops) stop();
    this.#byTool.clear();
    await this.#calls.settled();
  }

  /** Callers learn of the new subjects when they are in force. */
  async #changed(): Promise<void> {
    if (this.#isClosed) return;
    this.#offers.forget();
    this.#subscribe();
    try {
      await this.#port.flush();
      this.announce();
    } catch {
      // A lost connection: with the next one the subscriptions are in force.
    }
  }

  #subscribe(): void {
    const offered = this.#offers.all;
    for (const [tool, stops] of this.#byTool) {
      if (offered.has(tool)) continue;
      for (const stop of stops) stop();
      this.#byTool.delete(tool);
    }
    for (const tool of offered.keys()) if (!this.#byTool.has(tool)) this.#byTool.set(tool, this.#listen(tool));
  }

  #listen(tool: string): readonly (() => void)[] {
    const [port, subjects, calls] = [this.#port, this.#subjects, this.#calls];
    return [
      port.subscribe(subjects.request(tool), (message) => calls.take(tool, message, undefined), { queue }),
      port.subscribe(subjects.control(tool), (message) => calls.control(message)),
      ...this.#owned.map((partition) =>
        port.subscribe(subjects.partition(tool, partition), (message) => calls.take(tool, message, partition), {
          queue,
        }),
      ),
    ];
  }
}

function ownedPartitions({ index, of }: KeyShare): readonly number[] {
  const isShare = Number.isInteger(index) && Number.isInteger(of) && index >= 0 && index < of && of <= partitions;
  if (!isShare) throw new TypeError(`Got kernel ${index} of ${of}, expected one from 0 below at most ${partitions}.`);
  return Array.from({ length: partitions }, (_, partition) => partition).filter((each) => each % of === index);
}
