import type { Capability, Need, NetCapability } from "@keyhole/kernel";
import fc from "fast-check";
import { expect, it } from "vitest";
import { Ledger, type Taken } from "../../packages/kernel/src/capability/gate/ledger.ts";
import { capabilityCovers, grantOf, needOf } from "../support/grants.ts";
import { sized } from "../support/size.ts";

const paths = ["/a", "/a/b", "/a/b/c", "/d"] as const;
const capability: fc.Arbitrary<NetCapability> = fc
  .record({
    kind: fc.constantFrom("net.read" as const, "net.write" as const),
    hosts: fc.constant(["example.com"]),
    methods: fc.constantFrom(["GET"], ["POST"], ["GET", "POST"]),
    paths: fc.subarray([...paths], { minLength: 1 }),
    requests: fc.option(fc.integer({ min: 0, max: 4 }), { nil: undefined }),
    bytes: fc.option(fc.integer({ min: 0, max: 40 }), { nil: undefined }),
  })
  .map((each) => JSON.parse(JSON.stringify(each)) as NetCapability);
const layers = fc.array(fc.array(capability, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 2 });
const request = fc.record({
  kind: fc.constantFrom("net.read" as const, "net.write" as const),
  method: fc.constantFrom("GET", "POST"),
  path: fc.constantFrom(...paths),
  bytes: fc.array(fc.nat(15), { maxLength: 3 }),
});

interface Served {
  readonly need: Need;
  readonly bytes: number;
}

/** Whether every served request has a capability of the layer to itself that covers it, within what each capability gives. Tries all ways. */
function fits(layer: readonly Capability[], [first, ...others]: readonly Served[], used: readonly Taken[]): boolean {
  if (!first) return true;
  return layer.some((each, at) => {
    if (!capabilityCovers(each, first.need, "authority")) return false;
    const { requests = Infinity, bytes = Infinity } = each as NetCapability;
    const now = { requests: used[at]!.requests + 1, bytes: used[at]!.bytes + first.bytes };
    return now.requests <= requests && now.bytes <= bytes && fits(layer, others, used.with(at, now));
  });
}

it("what was served always fits an assignment to the capabilities of each layer, across runs and suspensions", () => {
  const wish: readonly Capability[] = ["net.read" as const, "net.write" as const].map((kind) => ({
    kind,
    hosts: ["*"],
    methods: ["GET", "POST"],
  }));
  let refused = 0;
  fc.assert(
    fc.property(layers, fc.array(request, { maxLength: 7 }), fc.nat(7), (given, requests, pause) => {
      const grant = grantOf(wish, given);
      let ledger = new Ledger(grant, {});
      const served: Served[] = [];
      for (const [at, { bytes, ...each }] of requests.entries()) {
        // What another run of the call, or its resumption, is opened with.
        if (at === pause) ledger = new Ledger(grant, JSON.parse(JSON.stringify(ledger.taken)) as Record<string, Taken>);
        const need: Need = { ...each, host: "example.com", port: 443 };
        const own = needOf(need);
        if (!given.every((layer) => layer.some((one) => capabilityCovers(one, need, "authority")))) continue;
        if (ledger.charge(own, { networkRequests: 1 }, () => undefined)) {
          refused++;
          continue;
        }
        let moved = 0;
        for (const networkBytes of bytes)
          if (ledger.charge(own, { networkBytes }, () => undefined)) refused++;
          else moved += networkBytes;
        served.push({ need, bytes: moved });
      }
      for (const layer of given)
        expect(
          fits(
            layer,
            served,
            layer.map(() => ({ requests: 0, bytes: 0 })),
          ),
        ).toBe(true);
    }),
    { numRuns: sized(700, 3_000) },
  );
  expect(refused).toBeGreaterThan(sized(50, 250));
});

it("a charge that the call around it refuses is given back", () => {
  const grant = grantOf(
    [{ kind: "net.read", hosts: ["*"] }],
    [[{ kind: "net.read", hosts: ["example.com"], requests: 1 }]],
  );
  const ledger = new Ledger(grant, {});
  const need: Need = { kind: "net.read", method: "GET", host: "example.com", port: 443, path: "/" };
  const error = { code: "BOUNDS_EXCEEDED", message: "", hint: "" } as const;
  expect(ledger.charge(needOf(need), { networkRequests: 1 }, () => error)).toBe(error);
  expect(ledger.charge(needOf(need), { networkRequests: 1 }, () => undefined)).toBeUndefined();
  expect(ledger.charge(needOf(need), { networkRequests: 1 }, () => undefined)).toMatchObject({
    code: "BOUNDS_EXCEEDED",
  });
});
