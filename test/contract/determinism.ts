import {
  blake3Hash,
  type Clock,
  createKernel,
  type Determinism,
  hashJson,
  type IsolateHost,
  type JsonValue,
  type Kernel,
  type KernelOptions,
  packageHash,
  type RegisteredTool,
  systemClock,
  type ToolPackage,
} from "@keyhole/kernel";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import moments from "keyhole:./tools/moments.ts";
import { registered } from "../support/registered.ts";

/** The same code under another promise. */
function declared(determinism: Determinism): ToolPackage {
  const { manifest, code }: ToolPackage = moments;
  const plain = { ...manifest, determinism, ...(determinism === "nondeterministic" ? {} : { capabilities: [] }) };
  return { manifest: plain, code, hash: packageHash(plain, code, blake3Hash) ?? "" };
}

interface Moments {
  readonly time: Readonly<Record<string, JsonValue>>;
  readonly chance: readonly number[];
  readonly place: Readonly<Record<string, JsonValue>>;
  readonly gone: readonly string[];
}

const grants = (["clock", "random"] as const).map((kind) => ({ tool: "moments", capability: { kind } }));

/** What a tool sees of time, chance and place follows from the determinism that it declares, on every host. */
export function describeDeterminism(name: string, open: () => Promise<IsolateHost>): void {
  describe(`determinism on ${name}`, () => {
    let host: IsolateHost;
    beforeAll(async () => {
      host = await open();
    });
    afterAll(() => host.close());

    async function kernelWith(determinism: Determinism, options: KernelOptions = {}): Promise<Kernel> {
      const kernel = await createKernel({
        host,
        policy: { version: "1", posture: "permissive" },
        cache: false,
        ...options,
      });
      expect(kernel.register(declared(determinism))).toMatchObject({ ok: true });
      return kernel;
    }
    async function seen(kernel: Kernel): Promise<Moments> {
      const result = await kernel.call("moments", {});
      if (!result.ok) throw new Error(result.error.message);
      return result.data as unknown as Moments;
    }
    const once = async (tool: RegisteredTool, seed: string, nowMs: number): Promise<string> => {
      const isolate = await host.open(tool);
      const call = {
        callId: "c",
        sessionId: "s",
        inputText: "{}",
        outputKind: "json",
        outputBytes: 10_000,
        seed,
        nowMs,
        real: { clock: false, random: false },
      } as const;
      const outcome = await isolate.call(call, {
        signal: new AbortController().signal,
        log: () => {},
        progress: () => {},
        request: () => Promise.reject(new Error("it has no capabilities")),
      });
      isolate.terminate("the test has ended");
      if (outcome.kind !== "returned" || outcome.output.form !== "json") throw new Error(JSON.stringify(outcome));
      return outcome.output.text;
    };

    it("pure: no clock and no chance, in any call, on any day", async () => {
      const kernel = await kernelWith("pure");
      const [first, second] = [await seen(kernel), await seen(kernel)];
      expect(second).toEqual(first);
      expect(first).toMatchObject({
        time: { date: "1970-01-01T00:00:00.000Z", now: 0, constructed: 0, context: 0 },
        place: {
          offset: 0,
          text: ["Thu Jan 01 1970 00:00:00 GMT+0000 (Coordinated Universal Time)", "1234.5", "i"],
          sorted: ["a", "b", "z", "ä"],
        },
        gone: [],
      });
      // What all hosts agree on to the byte.
      const { called: _, ...exact } = first.time;
      expect(hashJson({ time: exact, chance: first.chance })).toBe(
        "blake3:25429f8e864180195b6c048f6d07253ba8993a93afde7e0356a2dbe89181d0ea",
      );
    });

    it("pure: one that shows them all the same is found, and is out of the cache", async () => {
      const kernel = await kernelWith("pure", { cache: true });
      const call = async () => (await kernel.call("moments", {})).meta.cached;
      expect([await call(), await call()]).toEqual([false, true]);
      const check = await kernel.verifyPure("moments", [{}]);
      expect(check).toMatchObject({ ok: false, kind: "varies", input: 0 });
      expect([await call(), await call()]).toEqual([false, false]);
    });

    it("seeded: the same seed and start give the same, another seed or start something else", async () => {
      const tool = registered(declared("seeded"));
      const [one, two] = ["1".repeat(64), "2".repeat(64)];
      const first = await once(tool, one, 1_000);
      expect(await once(tool, one, 1_000)).toBe(first);
      const [same, chanced, later] = [first, await once(tool, two, 1_000), await once(tool, one, 2_000)].map(
        (text) => JSON.parse(text) as Moments,
      );
      expect(chanced!.time).toEqual(same!.time);
      for (const [i, drawn] of chanced!.chance.entries()) expect(drawn).not.toBe(same!.chance[i]);
      expect(later!.chance).toEqual(same!.chance);
      expect(later!.time).toMatchObject({ now: 2_000, date: "1970-01-01T00:00:02.000Z" });
    });

    it.each(["seeded", "external"] as const)(
      "%s: the clock stands at the call's start, and each call has a seed of its own",
      async (level) => {
        const kernel = await kernelWith(level);
        const beforeMs = Date.now();
        const [first, second] = [await seen(kernel), await seen(kernel)];
        const afterMs = Date.now();
        for (const { time } of [first, second]) {
          expect(time["now"]).toBeGreaterThanOrEqual(beforeMs);
          expect(time["now"]).toBeLessThanOrEqual(afterMs);
          expect(time["constructed"]).toBe(time["now"]);
          expect(time["context"]).toBe(time["now"]);
        }
        expect(second.chance).not.toEqual(first.chance);
        expect(second.place["offset"]).toBe(first.place["offset"]);
        expect(first.gone).toEqual([]);
      },
    );

    it("nondeterministic: the real clock and real chance where they are granted, the call's where not", async () => {
      const bare = await seen(await kernelWith("nondeterministic"));
      expect(bare.time["context"]).toBe(bare.time["now"]);
      const kernel = await kernelWith("nondeterministic", {
        policy: { version: "1", posture: "permissive", grants },
        clock: standing,
      });
      const { time, chance } = await seen(kernel);
      expect(Math.abs(Number(time["context"]) - Date.now())).toBeLessThan(3_600_000);
      expect(chance.every((drawn) => drawn >= 0 && drawn < 1)).toBe(true);
      expect((await seen(kernel)).chance).not.toEqual(chance);
    });
  });
}

/** A logical clock that stands far away from now. */
const standing: Clock = { ...systemClock, now: () => 1_000_000 };
