import { knownOptions } from "@keyhole/kernel/foreign";
import { type JsonObject, type Kernel, systemClock, type ToolContext } from "@keyhole/kernel";
import {
  boundsOf,
  checkNeeds,
  checkSourceName,
  type ForeignTool,
  type OpenTool,
  Toolbox,
} from "@keyhole/kernel/foreign-tools";
import type { BusPort } from "../port.ts";
import { checkCredential } from "../wire/seal.ts";
import { Subjects } from "../wire/subjects.ts";
import { BusCall, type BusCallPorts, type BusOutput } from "./bus-call.ts";
import { callError } from "./call-error.ts";
import { discover } from "./discovery.ts";
import { Inbox } from "./inbox.ts";
import { type BusSource, type BusSourceOptions, sourceOptions } from "./options.ts";
import { sourceTool } from "./source-tool.ts";

const DISCOVERY_MS = 500;
const ASK_MS = 2_000;

/**
 * Makes the tools of the kernels on a bus tools of this kernel. The source pins each definition at its first sight. A call of a tool whose definition has changed since is
 * refused until {@link BusSource.confirm}. The policies of both kernels decide about each call.
 *
 * @throws TypeError for a name, prefix or credential that is none, and for a capability without a need
 * @throws Error where no kernel answers
 * @example
 * const source = await busSource(kernel, natsBus(connection), { name: "shop", credential });
 */
export async function busSource(kernel: Kernel, port: BusPort, given: BusSourceOptions): Promise<BusSource> {
  const options = knownOptions(given, sourceOptions, "busSource");
  checkSourceName(options.name);
  checkNeeds(options.capabilities ?? [], options.needs ?? []);
  if (options.credential) checkCredential(options.credential);
  const source = new KernelSource(kernel, port, options);
  try {
    await port.flush();
    await source.refresh();
  } catch (error) {
    await source.close();
    throw error;
  }
  return source;
}

class KernelSource implements BusSource {
  readonly #options: BusSourceOptions;
  readonly #toolbox: Toolbox;
  readonly #ports: BusCallPorts;
  readonly #calls = new Set<BusCall>();
  readonly #stops: readonly (() => void)[];
  #turn: Promise<unknown> = Promise.resolve();
  #isRefreshing = false;
  #isStale = false;
  #isClosed = false;

  constructor(kernel: Kernel, port: BusPort, options: BusSourceOptions) {
    const { name, pins, onChange, clock = systemClock, onError = () => {}, credential } = options;
    this.#options = options;
    const subjects = new Subjects(options.prefix);
    const inbox = new Inbox(port, { prefix: options.inboxPrefix, credential, clock, onError });
    this.#ports = {
      inbox,
      subjects,
      clock,
      askMs: options.askMs ?? ASK_MS,
      resultBytes: boundsOf(options).outputBytes,
    };
    this.#toolbox = new Toolbox(kernel, {
      name,
      pins,
      onChange,
      clock,
      onLeftOut: (count) => inbox.report(`The kernels change their tools too often: ${count} changes are left out.`),
      toolOf: (tool, pin, call) => sourceTool(tool, pin, options, call),
      call: (tool, input, context) => this.#call(tool, input, context),
    });
    this.#stops = [
      () => inbox.close(),
      port.subscribe(subjects.announce, () => void this.#refreshSoon()),
      port.onReconnect(() => this.#again()),
    ];
  }

  get tools(): readonly ForeignTool[] {
    return this.#toolbox.tools;
  }

  refresh(): Promise<void> {
    const { expect = [], discoveryMs = DISCOVERY_MS } = this.#options;
    return this.#inTurn(async () => {
      if (this.#isClosed) throw new Error("The source is closed.");
      await this.#toolbox.take(await discover({ ...this.#ports, discoveryMs, expect }));
    });
  }

  confirm(serverName: string, hash: string): Promise<boolean> {
    return this.#inTurn(() => this.#toolbox.confirm(serverName, hash));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const stop of this.#stops) stop();
    await this.#inTurn(() => this.#toolbox.clear());
  }

  /** One after the other: two comparisons of lists must not overlap. */
  #inTurn<Value>(work: () => Promise<Value>): Promise<Value> {
    const turn = this.#turn.then(work);
    this.#turn = turn.catch(() => {}); // The caller has it.
    return turn;
  }

  /** The source asks kernels that announce again and again once at a time. */
  async #refreshSoon(): Promise<void> {
    this.#isStale = true;
    if (this.#isRefreshing) return;
    this.#isRefreshing = true;
    while (this.#isStale && !this.#isClosed) {
      this.#isStale = false;
      await this.refresh().catch(() => {}); // The tools stay as they were.
    }
    this.#isRefreshing = false;
  }

  #again(): void {
    for (const call of this.#calls) call.again();
  }

  async #call(tool: OpenTool, input: JsonObject, context: ToolContext): Promise<BusOutput> {
    const { onward, signal, log, progress, charge } = context;
    tool.assertOpen();
    if (this.#isClosed || !onward) throw callError("no", "The source is closed.");
    const call = new BusCall(this.#ports, {
      tool: tool.serverName,
      definition: tool.hash,
      input,
      onward,
      signal,
      reports: { log, progress },
      charge: (bytes) => charge?.(bytes) !== false,
    });
    this.#calls.add(call);
    try {
      return await call.output();
    } finally {
      this.#calls.delete(call);
    }
  }
}
