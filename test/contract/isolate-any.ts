import type {
  CallPort,
  CapabilityReply,
  CapabilityRequest,
  Isolate,
  IsolateCall,
  IsolateHost,
  IsolateOutcome,
  LogEntry,
  RegisteredTool,
} from "@keyhole/kernel";
import { beforeAll, expect, it } from "vitest";
import { runsWhole } from "../support/part.ts";
import { sized } from "../support/size.ts";
import type { HostTraits } from "./isolate-subject.ts";
import { isolatesOf } from "./isolate-warm.ts";

/** A tool in whatever language, and what it is told so that it does what the contract asks about. */
export interface AnyTool {
  readonly tool: RegisteredTool;
  /** Gives back a text of so many characters. `overhead`: how many bytes the output has beside them. */
  readonly echo: (text: string) => IsolateCall;
  readonly echoed: (text: string) => string;
  readonly overhead: number;
  /** Asks for the file `granted`, and gives back that it has it. */
  readonly ask: () => IsolateCall;
  readonly answered: string;
  /** Asks for a file that it does not get, and fails with that. */
  readonly insist: () => IsolateCall;
  /** Writes thousands of log lines. Not of a tool whose lines nobody counts. */
  readonly chatter?: () => IsolateCall;
  readonly fail: () => IsolateCall;
  /** Never yields. */
  readonly loop: () => IsolateCall;
}

interface Listener extends CallPort {
  readonly logs: LogEntry[];
  readonly requests: CapabilityRequest[];
  /** Answers what was asked for. */
  readonly answer: () => void;
  readonly abort: () => void;
  /** Resolves when something was asked for. */
  readonly asked: Promise<void>;
}

const content = (): CapabilityReply => ({ ok: true, value: null, body: new TextEncoder().encode("content") });

/** @param waits requests wait until they are answered. Default: they are answered at once */
function listener({ waits = false } = {}): Listener {
  const controller = new AbortController();
  const logs: LogEntry[] = [];
  const requests: CapabilityRequest[] = [];
  const gate = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  return {
    signal: controller.signal,
    logs,
    requests,
    answer: gate.resolve,
    abort: () => controller.abort(),
    asked: asked.promise,
    log: (entry) => logs.push(entry),
    progress: () => {},
    async request(request) {
      requests.push(request);
      asked.resolve();
      if (waits) await gate.promise;
      if (request.arguments["path"] === "granted")
        return request.operation === "stat"
          ? { ok: true, value: { name: "granted", kind: "file", byteLength: 7 } }
          : content();
      return { ok: false, error: { code: "CAPABILITY_DENIED", message: "Not granted.", hint: "" } };
    },
  };
}

const returned = (text: string): IsolateOutcome => ({ kind: "returned", output: { form: "json", text } });

/** What every isolate does, whatever language its tool is written in. */
export function anyIsolateContract(
  makeHost: () => Promise<IsolateHost>,
  makeTool: (host: IsolateHost) => AnyTool,
  { preempts, part }: HostTraits,
): void {
  const isolates = isolatesOf(makeHost, (host) => makeTool(host).tool);
  let of: AnyTool;
  beforeAll(() => {
    of = makeTool(isolates.host);
  });

  const echoes = async (isolate: Isolate, text: string): Promise<void> =>
    expect(await isolate.call(of.echo(text), listener())).toEqual(returned(of.echoed(text)));

  it("opens, or says that nobody waits, where nobody does, and the next one opens", async () => {
    const flood = await Promise.allSettled(
      Array.from({ length: sized(3, 8) }, () => isolates.host.open(isolates.tool, () => false)),
    );
    for (const each of flood)
      if (each.status === "rejected")
        expect(each.reason).toMatchObject({ name: "IsolateFailure", code: "ISOLATE_LOST" });
      else each.value.terminate("nobody waits");
    await isolates.own((isolate) => echoes(isolate, "one"));
  });

  it("gives back what its tool says, call after call", () =>
    isolates.warm(async (isolate) => {
      await echoes(isolate, "one");
      await echoes(isolate, "é");
      expect(isolate.alive).toBe(true);
    }));

  it("carries a request out and its answer in", () =>
    isolates.warm(async (isolate) => {
      const port = listener();
      expect(await isolate.call(of.ask(), port)).toEqual(returned(of.answered));
      expect(port.requests.at(-1)).toEqual({ kind: "fs.read", operation: "read", arguments: { path: "granted" } });
    }));

  it("serves one call while another one waits, and does not mix them up", () =>
    isolates.warm(async (isolate) => {
      const port = listener({ waits: true });
      const waiting = isolate.call(of.ask(), port);
      await port.asked;
      await echoes(isolate, "meanwhile");
      port.answer();
      expect(await waiting).toEqual(returned(of.answered));
    }));

  it("ends a call that waits, once it is terminated, and hears no late answer", () =>
    isolates.own(async (isolate) => {
      const port = listener({ waits: true });
      const waiting = isolate.call(of.ask(), port);
      await port.asked;
      const { length } = port.requests;
      isolate.terminate("enough");
      isolate.terminate("twice");
      expect(await waiting).toEqual({ kind: "lost", reason: "enough" });
      expect(isolate.alive).toBe(false);
      port.answer();
      if (!isolates.host.sources.includes("inline"))
        expect((await isolate.call(of.echo("late"), listener())).kind).toBe("lost");
      // Another one works as long as the first would need to ask on.
      await isolates.own((other) => echoes(other, "other"));
      expect(port.requests.length).toBe(length);
    }));

  if (preempts) {
    it("stops a tool that never yields, and serves the next one", () =>
      isolates.warm(async (isolate) => {
        const spinning = await isolates.host.open(isolates.tool);
        const port = listener();
        const outcome = spinning.call(of.loop(), port);
        // Another isolate answers while this one spins: the loop really runs, and it is stopped from outside.
        await echoes(isolate, "meanwhile");
        // Who is told to stop, and does not listen, is stopped all the same.
        port.abort();
        await echoes(isolate, "told");
        spinning.terminate("deadline");
        expect(await outcome).toEqual({ kind: "lost", reason: "deadline" });
        await isolates.own((next) => echoes(next, "next"));
      }));
  }

  // From here on nothing depends on the engine.
  if (!runsWhole(part)) return;

  it("lives on after a call that failed", () =>
    isolates.warm(async (isolate) => {
      expect((await isolate.call(of.fail(), listener())).kind).toBe("threw");
      await echoes(isolate, "still here");
    }));

  it("says which refusal it was that a tool failed with", () =>
    isolates.warm(async (isolate) => {
      expect(await isolate.call(of.insist(), listener())).toMatchObject({ kind: "threw", code: "CAPABILITY_DENIED" });
    }));

  it("measures the output in bytes, at the limit and one past it", () =>
    isolates.warm(async (isolate) => {
      const text = "x".repeat(500);
      const outputBytes = 500 + of.overhead;
      expect((await isolate.call({ ...of.echo(text), outputBytes }, listener())).kind).toBe("returned");
      expect(await isolate.call({ ...of.echo(text), outputBytes: outputBytes - 1 }, listener())).toMatchObject({
        kind: "too-large",
        what: "output",
        limit: outputBytes - 1,
      });
    }));

  it("passes on no more lines than a call may write", () =>
    isolates.warm(async (isolate) => {
      if (of.chatter === undefined) return expect(isolates.host.sources).toEqual(["inline"]);
      const port = listener();
      expect(["returned", "too-large"]).toContain((await isolate.call(of.chatter(), port)).kind);
      expect(port.logs.length).toBeLessThanOrEqual(1_000);
      const next = isolate.alive ? isolate : await isolates.host.open(isolates.tool);
      await echoes(next, "next");
      return next.terminate("the test is over");
    }));

  it("does not end with another isolate of the same tool", () =>
    isolates.warm(async (isolate) => {
      await isolates.own((other) => echoes(other, "other"));
      await echoes(isolate, "mine");
    }));
}
