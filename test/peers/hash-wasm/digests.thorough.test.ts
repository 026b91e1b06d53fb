import { blake3Hash, createKernel } from "@keyhole/kernel";
import { blake3 } from "hash-wasm";
import { expect, it } from "vitest";
import hash from "../../../packages/worker-host/src/tools/hash.ts";
import { openPolicy } from "../../support/kernel.ts";

const bytesOf = (length: number): Uint8Array => Uint8Array.from({ length }, (_, i) => i % 251);

it.each([65_536, 1_000_003, 5_000_000])(
  "the tool `hash` gives the digest of hash-wasm for %i bytes",
  async (length) => {
    const bytes = bytesOf(length);
    const kernel = await createKernel({ policy: openPolicy });
    kernel.registerTrusted(hash);
    const data = Buffer.from(bytes).toString("base64");
    const result = await kernel.call("hash", { data, encoding: "base64" });
    expect(result).toMatchObject({ ok: true, data: { digest: await blake3(bytes) } });
    await kernel.close();
  },
);

it("blake3Hash gives the digest of hash-wasm for each length up to 4,096 bytes", async () => {
  for (let length = 0; length <= 4_096; length++) {
    const bytes = bytesOf(length);
    expect(blake3Hash.bytes(bytes), `${length} bytes`).toContain(await blake3(bytes));
  }
});
