import { type Kernel, systemClock, type Clock } from "@keyhole/kernel";
import { Catalogue } from "./catalogue.ts";
import type { McpServerOptions } from "./options.ts";
import { OutputLinks } from "./output-links.ts";
import { RequestStates } from "./request-state.ts";
import { Seal } from "./seal.ts";
import { WaitingCalls } from "./waiting-calls.ts";

/** The state that all servers of one kernel share: in 2026-07-28 each request has a server of its own. */
export class McpService {
  readonly kernel: Kernel;
  readonly options: McpServerOptions;
  readonly clock: Clock;
  readonly catalogue: Catalogue;
  readonly seal: Seal;
  readonly states: RequestStates;
  readonly waiting: WaitingCalls;
  readonly links: OutputLinks = new OutputLinks();

  constructor(kernel: Kernel, options: McpServerOptions) {
    this.kernel = kernel;
    this.options = options;
    this.clock = options.clock ?? systemClock;
    this.catalogue = new Catalogue(kernel, options);
    this.seal = new Seal(options.stateKey);
    this.states = new RequestStates(this.seal, this.clock);
    this.waiting = new WaitingCalls(this.clock);
  }

  close(): void {
    this.catalogue.close();
    this.waiting.cancelAll();
  }
}
