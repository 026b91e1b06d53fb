import { browserHost, domFrameContainer, type FrameContainer } from "@keyhole/worker-host/browser";
import { expect, it } from "vitest";
import { newFrames } from "../support/new-frames.ts";

/** Opens a host whose isolates run this script in place of the shell. */
function openWith(script: string, startTimeoutMs: number): Promise<unknown> {
  return browserHost({ container: domFrameContainer({ startTimeoutMs }, script), startTimeoutMs });
}

const lost = (message: RegExp): object => ({ code: "ISOLATE_LOST", message: expect.stringMatching(message) });

it("a worker that throws before it starts is reported with its error", async () => {
  await expect(openWith('throw new Error("no realm")', 60_000)).rejects.toMatchObject(
    lost(/^The isolate's worker did not start: .*no realm\.$/),
  );
});

it("a worker that never answers its frame is reported at the start deadline", async () => {
  await expect(openWith("", 2_000)).rejects.toMatchObject(
    lost(/^The isolate's frame did not start within 2000 ms: its (worker|script) did not answer\.$/),
  );
});

it("a shell that never answers its host is reported at the start deadline", async () => {
  const container: FrameContainer = { open: async () => ({ ok: true }), close: () => {}, watch: () => {} };
  await expect(browserHost({ container, startTimeoutMs: 50 })).rejects.toMatchObject(
    lost(/^The isolate did not start: its shell did not answer within 50 ms\.$/),
  );
});

it("a start that fails leaves no frame in the page", async () => {
  const framesLeft = newFrames();
  await expect(openWith('throw new Error("no realm")', 60_000)).rejects.toThrow("no realm");
  expect(framesLeft()).toHaveLength(0);
});

it.each(["module", "wasm", "interpreter"] as const)(
  "a start of %s that is given up leaves no frame in the page",
  async (shell) => {
    const framesLeft = newFrames();
    const container = domFrameContainer({ startTimeoutMs: 60_000 });
    const opening = container.open("given up", new MessageChannel().port1, shell);
    await container.close("given up");
    expect(await opening).toMatchObject({ ok: false });
    expect(framesLeft()).toHaveLength(0);
  },
);
