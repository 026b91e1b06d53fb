import { env } from "cloudflare:workers";
import { r2Store } from "@keyhole/worker-host/brokers/files-r2";
import { expect, it } from "vitest";
import { describeGrammar } from "../hostile/paths-grammar.ts";

const bucket = (env as unknown as { readonly FILES: R2Bucket }).FILES;

describeGrammar("R2", () => r2Store(bucket, { prefix: "tenant/" }));

it("R2 holds nothing outside of the prefix", async () => {
  const { objects } = await bucket.list();
  expect(objects.filter(({ key }) => !key.startsWith("tenant/"))).toEqual([]);
});
