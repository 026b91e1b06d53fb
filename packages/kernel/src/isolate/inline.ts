import type { RegisteredTool } from "../tool/package.ts";
import { runCall } from "./guest/run.ts";
import type { CallPort, Isolate, IsolateCall, IsolateHost, IsolateOutcome } from "./port.ts";

/**
 * Runs trusted tools in the kernel's own realm: no isolation, and nothing stops a tool that never yields. A terminated isolate only stops listening:
 * its callers are answered, the tool's code goes on.
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
  readonly #waiting = new Set<(outcome: IsolateOutcome) => void>();
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
        this.#waiting.delete(settle);
        resolve(outcome);
      };
      this.#waiting.add(settle);
      void runCall(this.#tool.body, call, port).then(settle);
    });
  }

  terminate(reason: string): void {
    this.#alive = false;
    for (const settle of this.#waiting) settle({ kind: "lost", reason });
  }
}
