import { blake3Hash, type ApprovalRequest, manifestOf, packageHash, type ToolPackage } from "@keyhole/kernel";
import { afterEach, describe, expect, it, vi } from "vitest";
import { loadDraft, saveDraft } from "../../packages/playground/src/authoring/source-draft.ts";
import { openEdgeClient } from "../../packages/playground/src/client/edge-client.ts";
import { registrar } from "../../packages/playground/src/client/registrar.ts";
import { SavedValues } from "../../packages/playground/src/client/saved.ts";
import { openKernel, toolOf } from "../support/kernel.ts";
import { edgeThatSends } from "./edge-parts.ts";

const code = "export default {}";

function packed(name: string, version: string): ToolPackage {
  const manifest = manifestOf(
    toolOf(() => 1, { name, version, tier: 0 }),
    "module",
  );
  return { manifest, code, hash: packageHash(manifest, code, blake3Hash) ?? "" };
}

/** The kernel of the page, with one tool of its own whose calls the posture asks about. */
async function page() {
  const asked: ApprovalRequest[] = [];
  const { kernel } = await openKernel({
    policy: { version: "1", posture: "standard" },
    approver: async (request) => {
      asked.push(request);
      return { answer: "deny", approver: "ada" };
    },
  });
  kernel.registerTrusted(toolOf(() => 1, { name: "write_file", version: "1.0.0", tier: 2 }));
  const registry = {
    list: async () => kernel.list(),
    register: async (pkg: ToolPackage) => kernel.register(pkg),
    unregister: async (id: string) => kernel.unregister(id),
  };
  const register = registrar(registry, (work) => work());
  return { kernel, register, asked, ids: () => kernel.list().map(({ id }) => id) };
}

afterEach(() => vi.unstubAllGlobals());

describe("a tool that a person brings", () => {
  it.each(["0.1.0", "1.0.0", "9.9.9"])("takes no name of the page's own tools, as version %s", async (version) => {
    const { kernel, register, asked, ids } = await page();
    expect(await register(packed("write_file", version))).toMatchObject({
      ok: false,
      error: { code: "ALREADY_REGISTERED", message: "The page has a tool write_file." },
    });
    expect(ids()).toEqual(["write_file@1.0.0"]);
    await kernel.call("write_file", {}, { caller: "ada" });
    expect(asked).toMatchObject([{ tool: "write_file@1.0.0", tier: 2 }]);
  });

  it("takes no name of an edge that the page knows", async () => {
    edgeThatSends([]);
    await openEdgeClient({ address: "https://edge.example", token: "t" });
    const { register } = await page();
    expect(await register(packed("pour", "9.0.0"))).toMatchObject({
      ok: false,
      error: { message: "An edge that this page knows has a tool pour." },
    });
  });

  it("replaces itself in any version, also where the packages come at once", async () => {
    const { register, ids } = await page();
    const versions = ["9.9.9", "1.0.0", "1.0.0", "2.0.0"];
    const setups = await Promise.all(versions.map((version) => register(packed("mine", version))));
    expect(setups.map(({ ok }) => ok)).toEqual([true, true, true, true]);
    expect(ids()).toEqual(["mine@2.0.0", "write_file@1.0.0"]);
  });
});

describe("the draft of a tool", () => {
  const storage = (refused = ""): { readonly values: SavedValues; readonly map: Map<string, string> } => {
    const map = new Map<string, string>();
    const area = (): Pick<Storage, "getItem" | "setItem" | "removeItem"> => ({
      getItem: (key) => map.get(key) ?? null,
      setItem: (key, value) => {
        if (key === refused) throw new Error("full");
        map.set(key, value);
      },
      removeItem: (key) => void map.delete(key),
    });
    return { values: new SavedValues({ local: area, session: area }), map };
  };

  it("keeps over a reload that it came from elsewhere, until a person gives it to the kernel", () => {
    const { values } = storage();
    expect(loadDraft(values)).toMatchObject({ isUngiven: false });
    for (const isUngiven of [true, false]) {
      saveDraft({ source: "theirs", isUngiven }, values);
      expect(loadDraft(values)).toEqual({ source: "theirs", isUngiven });
    }
  });

  it("is not kept where the browser does not keep its mark", () => {
    const { values, map } = storage("keyhole.build.ungiven");
    saveDraft({ source: "theirs", isUngiven: true }, values);
    expect([...map]).toEqual([]);
  });
});
