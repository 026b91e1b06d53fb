import { isLoopback, readAddress } from "../../packages/worker-host/src/edge/address.ts";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { trustOf, trustState, trustText } from "../../packages/playground/src/app/edge-trust.ts";
import {
  chooseEdge,
  type EdgeLink,
  loadEdges,
  loadEdgeSettings,
  mostEdges,
  readEdgeLink,
  removeEdge,
  saveEdgeSettings,
} from "../../packages/playground/src/client/edge-settings.ts";
import type { CallHead } from "../../packages/playground/src/session/call-head.ts";

const current = { address: "http://127.0.0.1:8701", token: "old" };
const other = { address: "http://127.0.0.1:8702", token: "other" };
const link = (fragment: string): EdgeLink | undefined =>
  readEdgeLink(new URLSearchParams(fragment), [current, other], current.address);

describe("a link to an edge", () => {
  it("is an offer that names the address and the token, beside the edges that there are", () => {
    expect(link("edge=https://edge.example.com&token=new")).toEqual({
      kind: "offer",
      settings: { address: "https://edge.example.com", token: "new" },
      known: false,
    });
  });

  it("does not carry the old token to another edge", () => {
    expect(link("edge=https://edge.example.com")).toMatchObject({ settings: { token: "" } });
  });

  it("asks also for another token of the same edge", () => {
    expect(link("edge=http://127.0.0.1:8701&token=new")).toMatchObject({ kind: "offer", known: true });
    expect(link("edge=http://127.0.0.1:8702&token=other")).toMatchObject({ kind: "offer", known: true });
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

describe("the edges of a tab", () => {
  const memory = new Map<string, string>();
  const area = {
    getItem: (key: string) => memory.get(key) ?? null,
    setItem: (key: string, value: string) => void memory.set(key, value),
    removeItem: (key: string) => void memory.delete(key),
  };
  beforeEach(() => {
    memory.clear();
    vi.stubGlobal("sessionStorage", area);
  });
  afterEach(() => vi.unstubAllGlobals());

  it("are several, named, one of them in use; each keeps its own token", () => {
    saveEdgeSettings({ ...current, name: "staging" });
    saveEdgeSettings(other);
    expect(loadEdgeSettings()).toEqual({ ...other, name: "" });
    chooseEdge(current.address);
    saveEdgeSettings({ ...current, token: "newer" });
    expect(loadEdges()).toEqual([
      { ...current, name: "staging", token: "newer" },
      { ...other, name: "" },
    ]);
    removeEdge(current.address);
    expect(loadEdgeSettings()).toEqual({ ...other, name: "" });
    removeEdge(other.address);
    expect(loadEdgeSettings()).toBeUndefined();
  });

  it("are bounded, the newest stay", () => {
    for (let i = 0; i < 50; i++) saveEdgeSettings({ address: `http://127.0.0.1:${9_000 + i}`, token: "" });
    expect(loadEdges()).toHaveLength(mostEdges);
    expect(loadEdgeSettings()?.address).toBe("http://127.0.0.1:9049");
  });

  it.each([
    "null",
    "{",
    "[]",
    '{"edges":{},"current":""}',
    '{"edges":[null,{"address":"http://evil.example","token":"","name":""}],"current":"http://evil.example"}',
    '{"edges":[{"address":"http://127.0.0.1:1","token":{},"name":""}],"current":"http://127.0.0.1:1"}',
  ])("are none where what is stored is not theirs: %s", (stored) => {
    memory.set("keyhole.edges", stored);
    expect([loadEdges(), loadEdgeSettings()]).toEqual([[], undefined]);
  });
});

describe("what the answers of an edge were worth", () => {
  const heads = (...verdicts: readonly (string | null)[]): CallHead[] =>
    verdicts.map((verdict) => ({ address: current.address, verdict }) as CallHead);

  it.for<[string, readonly (string | null)[], string, string]>([
    ["none", [null], "none", "No answer yet"],
    ["one that matches", ["unvouched"], "matched", "1 answer, all match"],
    ["one that was not verified", ["unvouched", "inconclusive"], "unchecked", "1 of 2 answers not verified"],
    [
      "one broken among many",
      [...Array.from({ length: 9 }, () => "unvouched"), "broken"],
      "broken",
      "1 of 10 answers broken",
    ],
  ])("%s", ([, verdicts, state, text]) => {
    const trust = trustOf(
      [...heads(...verdicts), { address: other.address, verdict: "broken" } as CallHead],
      current.address,
    );
    expect([trustState(trust), trustText(trust)]).toEqual([state, text]);
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
