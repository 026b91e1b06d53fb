import type { Broker, ToolContext } from "@keyhole/kernel";
import { fsRead } from "@keyhole/kernel/families";
import { granting, toolOf } from "../../support/kernel.ts";
import { openKernel, type Seam, seen } from "./seam.ts";

const files = { kind: "fs.read", paths: ["open/**"] } as const;
const external = { determinism: "external" } as const;
const reader = (use: (context: ToolContext) => unknown): ReturnType<typeof toolOf> =>
  toolOf((_: never, context: ToolContext) => use(context), {
    ...external,
    effects: ["fs.read"],
    capabilities: [files],
  });

/** The tool reads one file, through this broker. */
async function withBroker(broker: Partial<Broker>): Promise<unknown> {
  const needs: Broker["needs"] = () => ({ ok: true, needs: [{ kind: "fs.read", path: "open/a" }] });
  const serve: Broker["serve"] = async () => ({ ok: true, value: { name: "a" } });
  const brokers = [{ families: [fsRead], needs, serve, ...broker } as const];
  const kernel = await openKernel({ policy: granting(files), brokers });
  kernel.registerTrusted(reader(({ files: { stat } }) => stat("open/a")));
  return seen(kernel, await kernel.call("subject", {}));
}

export const seams: readonly Seam[] = [
  {
    name: "what a broker says that a request needs",
    first: { ok: true, needs: [{ kind: "fs.read", path: "open/a" }] },
    second: { ok: true, needs: [{ kind: "fs.read", path: "closed/b" }] },
    run: (needs) => withBroker({ needs: () => needs }),
  },
  {
    name: "a broker's refusal of a request",
    first: { ok: false, error: { code: "INVALID_REQUEST", message: "no", hint: "" } },
    second: { ok: true, needs: [], error: { code: "toString", message: 1, hint: {} } },
    run: (needs) => withBroker({ needs: () => needs }),
  },
  {
    name: "a broker's answer",
    first: { ok: true, value: { name: "a", more: [1, { deep: true }] } },
    second: { ok: false, value: { name: "b", more: [2, { deep: false }] } },
    run: (reply) => withBroker({ serve: async () => reply }),
  },
  {
    name: "a broker's refusal",
    first: { ok: false, error: { code: "UNAVAILABLE", message: "not there", hint: "look" } },
    second: { ok: true, error: { code: "CAPABILITY_DENIED", message: "other", hint: "none" }, value: 1 },
    run: (reply) => withBroker({ serve: async () => reply }),
  },
  {
    name: "one more need of a broker",
    first: { kind: "fs.read", path: "open/b" },
    second: { kind: "fs.read", path: "closed/b" },
    run: (need) =>
      withBroker({
        async serve(_, session) {
          const error = session.refusal(need);
          return error ? { ok: false, error } : { ok: true, value: "granted" };
        },
      }),
  },
  {
    name: "what a broker has used up, and for what",
    first: [{ bytes: 60 }, { kind: "fs.read", path: "open/b" }],
    second: [{ bytes: 1 }, { kind: "fs.read", path: "free/b" }],
    run: async (given) => {
      const needs: Broker["needs"] = () => ({ ok: true, needs: [{ kind: "fs.read", path: "open/a" }] });
      const serve: Broker["serve"] = async (_, session) => {
        const [usage, need] = given as readonly [never, never];
        const errors = [session.spend(usage, need), session.spend({ bytes: 60 })];
        return { ok: true, value: errors.map((error) => error?.code ?? "ok") };
      };
      const grants = [{ ...files, totalBytes: 100 }, { kind: "fs.read", paths: ["free/**"] } as const];
      const kernel = await openKernel({ policy: granting(...grants), brokers: [{ families: [fsRead], needs, serve }] });
      const capabilities = [{ kind: "fs.read", paths: ["**"] }];
      kernel.registerTrusted(toolOf((_: never, { files: { stat } }: ToolContext) => stat("open/a"), { ...external, effects: ["fs.read"], capabilities })); // prettier-ignore
      return seen(kernel, await kernel.call("subject", {}));
    },
  },
];
