import { type CallError, type CallResult, hashBytes, type IsolateHost, type Kernel } from "@keyhole/kernel";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { expectSoundLog } from "../support/kernel.ts";
import { runsWhole } from "../support/part.ts";
import { bytesFor, type HostTraits, kernelOn } from "./isolate-subject.ts";

/** What a caller sees of bytes, and what the tool that gave them has afterwards, whatever host runs it. */
export function bytesContract(makeHost: () => Promise<IsolateHost>, { part }: HostTraits): void {
  describe.each(["lend", "give"] as const)("of a tool that does this with them: %s", (name) => {
    let kernel: Kernel;
    beforeAll(async () => {
      const host = await makeHost();
      kernel = await kernelOn(host, bytesFor(host, name));
    });
    afterAll(() => kernel.close());

    // One session: each test makes the bytes that it is about.
    const call = (deed: string, length = 0, outputBytes = 1_000_000): Promise<CallResult> =>
      kernel.call(name, { deed, length }, { sessionId: "session", bounds: { outputBytes } });
    const expectBytes = (result: CallResult, expected: Uint8Array): void => {
      expect(result).toMatchObject({ ok: true, hash: hashBytes(expected) });
      expect(result.ok && result.data).toEqual(expected);
    };
    const sevens = (length: number): Uint8Array => new Uint8Array(length).fill(7);
    const expectRefused = (result: CallResult, code: CallError["code"], reason: string): void =>
      expect(result).toMatchObject({ ok: false, error: { code, details: { reason, path: "" } } });
    const gone = (result: CallResult): void => {
      expectRefused(result, "NOT_NORMALIZABLE", "detached");
      expect(!result.ok && result.error.message).toBe(`${name}@1.0.0 returned bytes in a detached buffer.`);
    };

    it("hands the caller all of them, as an array of their own", async () => {
      for (const length of [1, 1_000, runsWhole(part) ? 1_000_000 : 100_000]) {
        const result = await call("fresh", length);
        expectBytes(result, sevens(length));
        expect(result.ok && (result.data as Uint8Array).buffer.byteLength).toBe(length);
      }
      expectBytes(await call("empty"), sevens(0));
      await expectSoundLog(kernel);
    });

    it("leaves the tool what it has, or takes all of it", async () => {
      await call("fresh", 5);
      expectBytes(await call("left"), Uint8Array.of(name === "give" ? 0 : 5));
      await call("another view stays", 5);
      expectBytes(await call("left"), Uint8Array.of(name === "give" ? 0 : 5));
    });

    it("gives the same array again, or refuses what was given away before", async () => {
      expectBytes(await call("fresh", 5), sevens(5));
      for (let i = 0; i < 2; i++) {
        const again = await call("again");
        if (name === "give") gone(again);
        else expectBytes(again, sevens(5));
      }
      expectBytes(await call("fresh", 6), sevens(6));
      await expectSoundLog(kernel);
    });

    it("gives an empty array as often as it is asked for, where its memory is still there", async () => {
      expectBytes(await call("empty"), sevens(0));
      if (name === "lend") expectBytes(await call("again"), sevens(0));
      else gone(await call("again"));
    });

    it("copies a part of more memory, and leaves that as it is", async () => {
      const result = await call("part of more", 3);
      expectBytes(result, sevens(3));
      expect(result.ok && (result.data as Uint8Array).buffer.byteLength).toBe(3);
      expectBytes(await call("again"), sevens(5));
    });

    it("does not take from the tool what was too large", async () => {
      const refused = await call("fresh", 5, 4);
      expect(refused).toMatchObject({ ok: false, error: { code: "BOUNDS_EXCEEDED" } });
      expectBytes(await call("again", 0, 5), sevens(5));
    });

    it("gives the bytes that it hashed, whatever the tool writes meanwhile and later", async () => {
      const results = [await call("write later", 1_000), await call("write later", 1_000)];
      await call("left");
      for (const result of results) {
        const data = result.ok ? (result.data as Uint8Array) : new Uint8Array();
        expect(result).toMatchObject({ ok: true, hash: hashBytes(data) });
        // The first turns are still the tool's; the last one never is.
        expect([data.length, data.at(-1)]).toEqual([1_000, 7]);
      }
    });

    it("gives the same array to one of two calls at the same time, or to both", async () => {
      if (name === "give") await call("fresh", 5, 4);
      else await call("fresh", 5);
      const results = await Promise.all([call("after a turn"), call("after a turn")]);
      for (const result of results.filter(({ ok }) => ok)) expectBytes(result, sevens(5));
      const refused = results.filter(({ ok }) => !ok);
      expect(refused).toHaveLength(name === "give" ? 1 : 0);
      for (const result of refused) gone(result);
    });

    it("takes a buffer that could shrink, before it does", async () => {
      const result = await call("a buffer that can shrink", 5);
      expectBytes(await call("shrink"), Uint8Array.of(name === "give" ? 0 : 1));
      expectBytes(result, sevens(5));
      expect(result.ok && ((result.data as Uint8Array).buffer as ArrayBuffer).resizable).toBe(false);
    });

    it.each<[string, Uint8Array]>([
      ["shared memory", sevens(5)],
      ["memory of a module", new Uint8Array(65_536)],
      ["a liar", sevens(5)],
      ["a then on it", Uint8Array.of(1, 2)],
    ])("takes from a tool: %s", async (deed, expected) => {
      for (let i = 0; i < 2; i++) expectBytes(await call(deed, 5), expected);
      await expectSoundLog(kernel);
    });

    it.each([
      ["detached", "detached"],
      ["a buffer that has shrunk", "detached"],
      ["a proxy", "not-bytes"],
      ["no bytes", "not-bytes"],
      ["other numbers", "not-bytes"],
    ])("refuses from a tool: %s", async (deed, reason) => {
      expectRefused(await call(deed, 5), "NOT_NORMALIZABLE", reason);
      expectBytes(await call("fresh", 5), sevens(5));
      await expectSoundLog(kernel);
    });
  });
}
