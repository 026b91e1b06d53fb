import { edgeHost } from "@keyhole/edge";
import { inject } from "vitest";
import { moduleOf } from "../browser/open.ts";
import { bindings } from "../edge/bindings.ts";
import { uncheckedCode, usurper } from "../edge/unchecked-code.ts";
import { describeBattery } from "./battery/describe.ts";
import type { Bench } from "./battery/room.ts";

declare module "vitest" {
  interface ProvidedContext {
    readonly canary: string;
  }
}

/** Speaks for the shell. What the shell would return at the end of a call is the outcome. */
const speaker = (deed: string): string =>
  usurper(`
    const end = Promise.withResolvers();
    const send = async (message) => {
      const keys = Object.keys(message ?? {}).sort().join();
      const packed = (value) => { try { return pack(value); } catch { return value; } };
      if (keys === "callId,outcome,type" && message.callId === callId) end.resolve(packed(message.outcome));
      // What RPC refuses to carry is not sent; the guest says nonsense instead.
      else try { await target[["request", "piece", "pull"].includes(message?.type) ? message.type : "say"](packed(message)); } catch { await target.say("refused"); }
    };
    void target.next().then(end.resolve, end.resolve); // It ends with its call: workerd complains of a guest that waits for nothing.
    try { await (async () => { ${deed} })(); } catch { await send("refused"); }
    return end.promise;`);

const { loader, nameOfShell } = uncheckedCode(bindings.LOADER);
const host = edgeHost({ loader, preempts: false });

function open(code: string): ReturnType<Bench["open"]> {
  const tool = moduleOf(code);
  return host.open({ ...tool, manifest: { ...tool.manifest, bounds: {} } });
}

describeBattery(
  () => ({ platform: "workerd", canary: inject("canary"), open, usurp: (deed) => open(nameOfShell(speaker(deed))) }),
  "workerd",
);
