import { edgeHost, IsolateRegistry } from "@keyhole/edge";
import { createKernel } from "@keyhole/kernel";
import { expect, it } from "vitest";
import relay from "keyhole:../contract/tools/relay.ts";
import { expectSoundLog } from "../support/kernel.ts";
import { openCalls } from "../support/nested.ts";
import { sized } from "../support/size.ts";
import { bindings } from "./bindings.ts";

it("calls from within, when every Worker in flight is one that waits for them: some are refused, none waits for its deadline", async () => {
  const host = edgeHost({ loader: new IsolateRegistry(bindings.LOADER), preempts: false });
  const kernel = await createKernel({ host, policy: openCalls });
  kernel.register(relay);
  const call = (times: number, i: number) => kernel.call(relay, { times }, { sessionId: `${i}` });

  // Half of the Workers in flight: the share of one caller.
  const one = await call(4, 100);
  expect(one).toMatchObject({ ok: true, data: "ok" });
  for (const times of sized([4], [1, 4])) {
    const all = await Promise.all(Array.from({ length: 12 }, (_, i) => call(times, i)));
    const ends = Map.groupBy(all, (result) => (result.ok ? String(result.data) : result.error.code));
    expect([...ends.keys()].toSorted()).toEqual(["BOUNDS_EXCEEDED", "ok"]);
  }
  await expectSoundLog(kernel);
  await kernel.close();
});
