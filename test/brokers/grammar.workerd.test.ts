import { env } from "cloudflare:workers";
import { r2Store } from "@keyhole/worker-host/brokers/files-r2";
import { beforeAll, expect, it } from "vitest";
import { describeGrammar } from "../hostile/paths-grammar.ts";

const bucket = (env as unknown as { readonly FILES: R2Bucket }).FILES;

// The files of one worker share the bucket.
beforeAll(async () => {
  for (let isEmpty = false; !isEmpty;) {
    const { objects } = await bucket.list();
    await bucket.delete(objects.map(({ key }) => key));
    isEmpty = objects.length === 0;
  }
});

describeGrammar("R2", () => r2Store(bucket, { prefix: "tenant/" }));

it("R2 holds nothing outside of the prefix", async () => {
  const { objects } = await bucket.list();
  expect(objects.filter(({ key }) => !key.startsWith("tenant/"))).toEqual([]);
});
