import type { RegisteredTool } from "../tool/package.ts";
import { runCall } from "../guest/run.ts";
import type { CallPort, Isolate, IsolateCall, IsolateHost, IsolateOutcome } from "./port.ts";

/**
 * Runs trusted tools in the kernel's own realm: no isolation, and nothing stops a tool that never
 * yields. A terminated isolate only stops listening: its callers get an answer, and the tool's code
 * continues.
 */
export function inlineHost(): IsolateHost {
  return {
    name: "inline",
    sources: ["inline"],
    enforces: [],
    preempts: false,
    brokers: [],
    open: async (tool) => new InlineIsolate(tool),
    close: async () => {},
  };
}

class InlineIsolate implements Isolate {
  readonly #tool: RegisteredTool;
  /** An array: a set that lives long and changes with each call has its old tables, and with them ended calls, kept until the next full collection. */
  readonly #waiting: ((outcome: IsolateOutcome) => void)[] = [];
  #alive = true;

  constructor(tool: RegisteredTool) {
    this.#tool = tool;
  }

  get alive(): boolean {
    return this.#alive;
  }

  call(call: IsolateCall, port: CallPort): Promise<IsolateOutcome> {
    return new Promise((resolve) => {
      const settle = (outcome: IsolateOutcome): void => {
        const place = this.#waiting.indexOf(settle);
        if (place >= 0) this.#waiting.splice(place, 1);
        resolve(outcome);
      };
      this.#waiting.push(settle);
      void runCall(this.#tool.body, call, port).then(settle);
    });
  }

  terminate(reason: string): void {
    this.#alive = false;
    for (const settle of this.#waiting.splice(0)) settle({ kind: "lost", reason });
  }
}
