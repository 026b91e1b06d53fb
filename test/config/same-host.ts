import { createKernel } from "@keyhole/kernel";
import { netBroker } from "@keyhole/worker-host/brokers/net";
import { readConfig } from "@keyhole/worker-host/config";
import { httpHost } from "@keyhole/worker-host/http";
import { expect, it } from "vitest";
import { inJson } from "./documents.ts";

/** A host without files: the configuration is in the bundle. */
export function configuredWithoutFiles(): void {
  it("a configuration without files makes the same tools and decides the same", async () => {
    const read = readConfig(JSON.parse(inJson));
    if (!read.ok) throw new Error(read.fault.message);
    const { packages, pipelines, limited } = read.config;
    const own = limited();
    if (!own.ok) throw new Error(own.message);
    const { policy } = own;
    const sent: string[] = [];
    const fetch = async (url: string): Promise<Response> => (sent.push(url), Response.json({ temp: 21 }));
    const kernel = await createKernel({ host: httpHost({ brokers: [netBroker({ fetch })] }), policy });
    for (const pkg of packages) expect(kernel.register(pkg)).toMatchObject({ ok: true });
    for (const tool of pipelines) expect(kernel.registerTrusted(tool)).toMatchObject({ ok: true });
    expect(kernel.list().map(({ hash }) => hash)).toMatchInlineSnapshot(`
      [
        "blake3:6b6c161a1efcd71c57cc097936024addf24b61de9a79bccfac3ce72b34668407",
        "blake3:b1de14dbb58c90dd022d81d7f0799d187aae052b8bfa3bd26954a084c3b39027",
      ]
    `);
    expect(kernel.policyHash).toMatchInlineSnapshot(
      `"blake3:21f5e6c366af67df2acb8ab57a72d001bcf2891d39a6c73699788be6c480d3d4"`,
    );
    expect(await kernel.call("weather", { city: "Atlantis" })).toMatchObject({ error: { code: "POLICY_DENIED" } });
    // Without the section of secrets the header has no value to send.
    expect(await kernel.call("weather", { city: "Bern" })).toMatchObject({ ok: false });
    expect(sent).toEqual([]);
    await kernel.close();
  });

  it("a configuration that names files is refused", () => {
    const named = { ...JSON.parse(inJson), policy: "policy.json" } as object;
    expect(readConfig(named)).toMatchObject({ ok: false, fault: { path: "/policy" } });
  });
}
