import { isLoopback, readAddress } from "../../packages/worker-host/src/edge/address.ts";
import { describe, expect, it } from "vitest";
import { type EdgeLink, readEdgeLink } from "../../packages/playground/src/client/edge-settings.ts";

const current = { address: "http://127.0.0.1:8701", token: "old" };
const link = (fragment: string, settings = current): EdgeLink | undefined =>
  readEdgeLink(new URLSearchParams(fragment), settings);

describe("a link to an edge", () => {
  it("is an offer that names the address, the token and the edge that it replaces", () => {
    expect(link("edge=https://edge.example.com&token=new")).toEqual({
      kind: "offer",
      settings: { address: "https://edge.example.com", token: "new" },
      replaced: "http://127.0.0.1:8701",
    });
  });

  it("does not carry the old token to another edge", () => {
    expect(link("edge=https://edge.example.com")).toMatchObject({ settings: { token: "" } });
  });

  it("asks also for another token of the same edge", () => {
    expect(link("edge=http://127.0.0.1:8701&token=new")).toMatchObject({ kind: "offer" });
  });

  it.each(["edge=http://127.0.0.1:8701&token=old", "token=new", ""])("asks for nothing: %j", (fragment) => {
    expect(link(fragment)).toBeUndefined();
  });

  it.each(["", "ftp://host", "http://edge.example.com", "http://192.168.0.2:8701", "data:text/html,page"])(
    "is refused with the address %j",
    (address) => {
      expect(link(`edge=${encodeURIComponent(address)}`)).toEqual({ kind: "unusable", address });
    },
  );

  it("is refused with an address of megabytes, of which the beginning is shown", () => {
    const unusable = link(`edge=http://${"x".repeat(1 << 20)}`);
    expect(unusable).toMatchObject({ kind: "unusable", address: `http://${"x".repeat(193)}` });
  });
});

describe("an address", () => {
  it.for<[string, string | undefined]>([
    ["http://localhost:8701", "http://localhost:8701"],
    ["http://a.localhost", "http://a.localhost"],
    ["http://[::1]:8701", "http://[::1]:8701"],
    ["http://0x7f.1:8701", "http://127.0.0.1:8701"],
    ["edge.example.com", "https://edge.example.com"],
    ["http://localhost.example.com", undefined],
    ["http://127.0.0.1.example.com", undefined],
    ["http://0.0.0.0:8701", undefined],
  ])("of plain http is of this machine only: %s", ([typed, origin]) => {
    expect(readAddress(typed)).toBe(origin);
  });

  it.each(["127.0.0.1", "127.255.255.254", "[::1]", "localhost"])("of this machine is recognized: %s", (hostname) => {
    expect(isLoopback(hostname)).toBe(true);
  });
});
