import {
  type CallPort,
  type Isolate,
  type IsolateCall,
  type IsolateHost,
  type IsolateOutcome,
  limits,
} from "@keyhole/kernel";
import { expect, it } from "vitest";
import { runsWhole } from "../support/part.ts";
import { joined } from "../support/streams.ts";
import { type HostTraits, pourFor } from "./isolate-subject.ts";
import { isolatesOf } from "./isolate-warm.ts";
import { registered } from "../support/registered.ts";

let calls = 0;

function callOf(deed: string, pieces = 0, length = 0, more: Partial<IsolateCall> = {}): IsolateCall {
  return {
    callId: `stream-${calls++}`,
    sessionId: "session",
    inputText: JSON.stringify({ deed, pieces, length }),
    outputKind: "stream",
    outputBytes: 10_000_000,
    seed: "5eed".repeat(16),
    nowMs: 1_700_000_000_000,
    real: { clock: false, random: false },
    ...more,
  };
}

interface Taker extends CallPort {
  readonly pieces: Uint8Array[];
  readonly order: string[];
  readonly abort: () => void;
}

/** @param answer whether more is wanted, after so many pieces */
function taker(answer: (pieces: number) => boolean | Promise<boolean> = () => true): Taker {
  const controller = new AbortController();
  const pieces: Uint8Array[] = [];
  const order: string[] = [];
  return {
    signal: controller.signal,
    abort: () => controller.abort(),
    pieces,
    order,
    log: ({ message }) => order.push(message),
    progress: ({ done }) => order.push(`done ${done}`),
    request: async () => ({ ok: true, value: null, body: new TextEncoder().encode("content") }),
    async write(piece) {
      pieces.push(piece);
      order.push("written");
      return answer(pieces.length);
    },
  };
}

const never = (): Promise<boolean> => new Promise(() => {});
const whole: IsolateOutcome = { kind: "returned", output: { form: "stream" } };

/** What the tool pours: piece number i is filled with i. */
export function poured(pieces: number, length: number): Uint8Array {
  return joined(Array.from({ length: pieces }, (_, i) => new Uint8Array(length).fill(i & 255)));
}

/** What a host must do with an output that is a stream, at its own port. */
export function streamPortContract(makeHost: () => Promise<IsolateHost>, { part }: HostTraits): void {
  const isolates = isolatesOf(makeHost, (host) => registered(pourFor(host)));

  /** What the tool says about the stream before. */
  const account = async (isolate: Isolate): Promise<{ readonly made: number; readonly stopped: boolean }> => {
    const port = taker();
    expect(await isolate.call(callOf("account"), port)).toEqual(whole);
    return JSON.parse(new TextDecoder().decode(joined(port.pieces)));
  };

  it.each([
    "pour",
    "pour from a ReadableStream",
    "pour from one buffer",
    "pour nothing now and then",
    "report and pour",
  ])("sends all of a stream, in order: %s", (deed) =>
    isolates.warm(async (isolate) => {
      const port = taker();
      expect(await isolate.call(callOf(deed, 20, 1_000), port)).toEqual(whole);
      expect(joined(port.pieces)).toEqual(poured(20, 1_000));
      expect(isolate.alive).toBe(true);
    }),
  );

  it("cuts pieces that are too large, and sends of a view only what it shows", () =>
    isolates.warm(async (isolate) => {
      const large = taker();
      expect(await isolate.call(callOf("pour", 2, limits.pieceBytes + 1), large)).toEqual(whole);
      expect(large.pieces.map(({ length }) => length)).toEqual([limits.pieceBytes, 1, limits.pieceBytes, 1]);
      expect(joined(large.pieces)).toEqual(poured(2, limits.pieceBytes + 1));
      const views = taker();
      expect(await isolate.call(callOf("pour views of a large buffer", 3, 10), views)).toEqual(whole);
      expect(views.pieces.map(({ buffer }) => buffer.byteLength)).toEqual([10, 10, 10]);
    }));

  it("asks the tool for no more than there is room for", () =>
    isolates.warm(async (isolate) => {
      const port = taker(never);
      const outcome = isolate.call(callOf("pour without end", 0, 1_000), port);
      await expect.poll(() => port.pieces.length).toBeGreaterThan(0);
      // Two more calls of the same isolate: it had its turns, and made nothing in them.
      await account(isolate);
      expect((await account(isolate)).made).toBeLessThanOrEqual(limits.piecesInFlight + 1);
      expect(port.pieces.length).toBeLessThanOrEqual(limits.piecesInFlight);
      isolate.terminate("enough");
      expect(await outcome).toEqual({ kind: "lost", reason: "enough" });
    }));

  it("stops a stream that nobody reads when its call is cancelled", () =>
    isolates.warm(async (isolate) => {
      const port = taker(never);
      const outcome = isolate.call(callOf("pour without end", 0, 1_000), port);
      await expect.poll(() => port.pieces.length).toBeGreaterThan(0);
      port.abort();
      // Inline the port itself holds the tool; the kernel's lets go of it.
      if (!isolates.host.sources.includes("module")) return;
      expect((await outcome).kind).toBe("threw");
      expect(await account(isolate)).toMatchObject({ stopped: true });
    }));

  it("keeps streams of calls at the same time apart", () =>
    isolates.warm(async (isolate) => {
      const [one, other] = [taker(), taker()];
      const outcomes = [
        isolate.call(callOf("pour from one buffer", 30, 500), one),
        isolate.call(callOf("pour from one buffer", 20, 700), other),
      ];
      expect(await Promise.all(outcomes)).toEqual([whole, whole]);
      expect(joined(one.pieces)).toEqual(poured(30, 500));
      expect(joined(other.pieces)).toEqual(poured(20, 700));
    }));

  it("ends a stream with its isolate", () =>
    isolates.warm(async (isolate) => {
      const port = taker();
      const outcome = isolate.call(callOf("pour and hang", 2, 10), port);
      await expect.poll(() => port.pieces.length).toBe(2);
      isolate.terminate("enough");
      expect(await outcome).toEqual({ kind: "lost", reason: "enough" });
    }));

  // From here on nothing depends on the engine.
  if (!runsWhole(part)) return;

  it("sends an empty stream", () =>
    isolates.warm(async (isolate) => {
      const port = taker();
      expect(await isolate.call(callOf("pour"), port)).toEqual(whole);
      expect(port.pieces).toEqual([]);
    }));

  it("lets logs, progress and pieces arrive in the order in which the tool made them", () =>
    isolates.warm(async (isolate) => {
      const port = taker();
      await isolate.call(callOf("report and pour", 2, 10), port);
      expect(port.order.filter((what) => what !== "written")).toEqual(["piece 0", "done 1", "piece 1", "done 2"]);
      expect(port.order.filter((what) => what === "written")).toHaveLength(2);
    }));

  it("serves requests while it streams", () =>
    isolates.warm(async (isolate) => {
      const port = taker();
      expect(await isolate.call(callOf("read and pour"), port)).toEqual(whole);
      expect(new TextDecoder().decode(joined(port.pieces))).toBe("contentcontent");
    }));

  it("tells the tool's stream to stop when nobody takes any more", () =>
    isolates.warm(async (isolate) => {
      const port = taker((pieces) => pieces < 3);
      const outcome = await isolate.call(callOf("pour without end", 0, 1_000), port);
      expect(outcome.kind).not.toBe("returned");
      expect(port.pieces.length).toBeLessThan(3 + limits.piecesInFlight);
      expect(await account(isolate)).toMatchObject({ stopped: true });
    }));

  it("takes as much as the call allows, and not a byte more", () =>
    isolates.warm(async (isolate) => {
      const bound = { outputBytes: 10_000 };
      expect(await isolate.call(callOf("pour", 10, 1_000, bound), taker())).toEqual(whole);
      const port = taker();
      expect(await isolate.call(callOf("pour", 10, 1_001, bound), port)).toEqual({
        kind: "too-large",
        what: "output",
        limit: 10_000,
      });
      // At the edge an outcome may overtake what was sent before it; a whole stream never ends like that.
      expect(joined(port.pieces).length).toBeLessThanOrEqual(9 * 1_001);
      expect(await isolate.call(callOf("pour without end", 0, 1_000, bound), taker())).toMatchObject({
        kind: "too-large",
      });
      expect(await account(isolate)).toMatchObject({ made: 11, stopped: true });
    }));

  it.each<[string, IsolateOutcome]>([
    ["throw at once", { kind: "threw", name: "RangeError", message: "on purpose" }],
    ["throw midway", { kind: "threw", name: "RangeError", message: "on purpose" }],
    ["fail the stream midway", { kind: "threw", name: "RangeError", message: "on purpose" }],
    ["no stream", { kind: "unnormalizable", reason: "not-a-stream", path: "" }],
    ["nothing", { kind: "unnormalizable", reason: "not-a-stream", path: "" }],
    ["bytes themselves", { kind: "unnormalizable", reason: "not-bytes", path: "/0" }],
    ["a text in between", { kind: "unnormalizable", reason: "not-bytes", path: "/1" }],
    ["a detached piece", { kind: "unnormalizable", reason: "detached", path: "/1" }],
    ["a then-able in between", { kind: "unnormalizable", reason: "not-bytes", path: "/1" }],
    ["numbers in between", { kind: "unnormalizable", reason: "not-bytes", path: "/1" }],
  ])("survives a tool that does: %s", (deed, expected) =>
    isolates.warm(async (isolate) => {
      expect(await isolate.call(callOf(deed, 3, 10), taker())).toEqual(expected);
      const port = taker();
      expect(await isolate.call(callOf("pour", 3, 10), port)).toEqual(whole);
      expect(joined(port.pieces)).toEqual(poured(3, 10));
    }),
  );
}
