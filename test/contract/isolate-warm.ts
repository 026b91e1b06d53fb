import type { Isolate, IsolateHost, RegisteredTool } from "@keyhole/kernel";
import { afterAll, beforeAll } from "vitest";

type Use<Result> = (isolate: Isolate) => Promise<Result>;

/** The isolates of a group of tests: to open one costs hundreds of times what a call in it does. */
export interface Isolates {
  readonly host: IsolateHost;
  readonly tool: RegisteredTool;
  /** Opens an isolate for this test alone: where it is ended, kept busy, or how it opens is the subject. */
  readonly own: <Result>(use: Use<Result>) => Promise<Result>;
  /** Uses the isolate of the group. One that a test leaves dead or busy, or fails in, is not used again. */
  readonly warm: <Result>(use: Use<Result>) => Promise<Result>;
}

/** Opens and closes the isolates of the group of tests that calls it. */
export function isolatesOf(
  makeHost: () => Promise<IsolateHost>,
  toolFor: (host: IsolateHost) => RegisteredTool,
): Isolates {
  let host: IsolateHost;
  let tool: RegisteredTool;
  let warm: Counted | undefined;
  beforeAll(async () => {
    host = await makeHost();
    tool = toolFor(host);
  });
  afterAll(async () => {
    warm?.isolate.terminate("the tests are over");
    await host.close();
  });

  return {
    get host() {
      return host;
    },
    get tool() {
      return tool;
    },
    async own(use) {
      const isolate = await host.open(tool);
      try {
        return await use(isolate);
      } finally {
        isolate.terminate("the test is over");
      }
    },
    async warm(use) {
      const mine = warm ?? counted(await host.open(tool));
      warm = undefined;
      try {
        const result = await use(mine.isolate);
        if (mine.isolate.alive && mine.running() === 0) warm = mine;
        return result;
      } finally {
        if (warm === undefined) mine.isolate.terminate("the test is over");
      }
    },
  };
}

interface Counted {
  readonly isolate: Isolate;
  /** Calls without an outcome. */
  readonly running: () => number;
}

function counted(isolate: Isolate): Counted {
  let running = 0;
  return {
    running: () => running,
    isolate: {
      get alive() {
        return isolate.alive;
      },
      async call(call, port) {
        running++;
        try {
          return await isolate.call(call, port);
        } finally {
          running--;
        }
      },
      terminate: (reason) => isolate.terminate(reason),
    },
  };
}

/** One host for all groups of a contract, which each close what they are given. */
export function sharedHost(makeHost: () => Promise<IsolateHost>): () => Promise<IsolateHost> {
  let opened: Promise<IsolateHost> | undefined;
  afterAll(async () => (await opened)?.close());
  return async () => {
    opened ??= makeHost();
    return keptOpen(await opened);
  };
}

/** The host, closed by nobody but its owner. */
function keptOpen(host: IsolateHost): IsolateHost {
  const close = async (): Promise<void> => {};
  return new Proxy(host, {
    get(target, key) {
      if (key === "close") return close;
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}
