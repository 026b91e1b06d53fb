import { blake3Hash, type IsolateHost, type Kernel, packageHash } from "@keyhole/kernel";
import { interpreterHost } from "@keyhole/worker-host/wasm";
import { describe, expect, it } from "vitest";
import { expectSoundLog } from "../support/kernel.ts";
import {
  begin,
  bytesOf,
  openGrants,
  patient,
  policy,
  relaying,
  slowFiles,
  suspendingKernel,
} from "../support/suspension.ts";
import { testEngine } from "../wasm/engine.ts";

const host = async (): Promise<IsolateHost> => interpreterHost({ engine: await testEngine() });

/** {@link patient}, which could do without files. */
const manifest = {
  ...patient.manifest,
  capabilities: patient.manifest.capabilities.map((capability) => ({ ...capability, optional: true })),
};
const tools = [{ ...patient, manifest, hash: packageHash(manifest, patient.code, blake3Hash) ?? "" }, relaying];

describe("an answer that the tool has", () => {
  /** What a call comes to that had read `a` when it was suspended, and still wants `b`. */
  async function resumedUnder(
    more: object,
    {
      change,
      tool = "patient",
      input = {},
    }: {
      readonly change?: (kernel: Kernel) => Promise<unknown>;
      readonly tool?: string;
      readonly input?: object;
    } = {},
  ) {
    const first = await suspendingKernel(await host(), { tools });
    const call = await begin(first.kernel, tool, input);
    await first.files.untilAsked("read a", "read b");
    first.files.answer("read a");
    const bytes = await bytesOf(first.kernel, call);
    const second = await suspendingKernel(await host(), {
      policy: { ...policy, ...more },
      files: await slowFiles(true),
      tools,
    });
    await change?.(second.kernel);
    const result = await second.kernel.resume(bytes);
    await expectSoundLog(second.kernel);
    return result;
  }
  const denies = (path: string) => ({
    rules: [{ id: "closed", effect: "deny", when: { path: [path] }, reason: "Closed.", examples: { match: [{ path }], notMatch: [{ path: "other" }] } }], // prettier-ignore
  });
  const refused = {
    ok: false,
    error: {
      code: "CAPABILITY_DENIED",
      message: "patient@1.0.0 has an answer from before its suspension that the present rules refuse.",
      details: { reason: "answered" },
    },
  };

  it.each<[string, object]>([
    ["a rule that denies it", denies("a")],
    [
      "grants that leave it out",
      {
        grants: openGrants.map((grant) =>
          grant.capability.kind === "fs.read"
            ? { tool: "*", capability: { kind: "fs.read", paths: ["b", "c"] } }
            : grant,
        ),
      },
    ],
    ["a list of the tool that leaves it out", { tools: { patient: { paths: { forbidden: ["a"] } } } }],
  ])("is not kept under %s", async (_, narrower) => {
    expect(await resumedUnder(narrower)).toMatchObject(refused);
  });

  it("is kept where it could be asked for again", async () => {
    expect(await resumedUnder({})).toMatchObject({ ok: true });
    expect(await resumedUnder(denies("elsewhere"))).toMatchObject({ ok: true });
  });

  it("is not kept where its kind was taken away, though the tool can do without it", async () => {
    const revoke = (kernel: Kernel): Promise<unknown> =>
      kernel.grants.revoke({ tool: "patient", kinds: ["fs.read"] }, "Enough.");
    expect(await resumedUnder({}, { change: revoke })).toMatchObject(refused);
  });

  it("came from a call within, of which nobody knows the rules: it is kept under the same policy alone", async () => {
    const input = { tool: "patient", input: {} };
    expect(await resumedUnder({}, { tool: "relaying", input })).toMatchObject({ ok: true });
    const { error } = { error: undefined, ...(await resumedUnder(denies("a"), { tool: "relaying", input })) };
    expect(error).toMatchObject({ code: "CAPABILITY_DENIED", details: { reason: "answered" } });
  });
});
