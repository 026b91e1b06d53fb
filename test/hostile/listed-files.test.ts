import { type CallOptions, createKernel, type PolicyDocument, type ToolContext } from "@keyhole/kernel";
import { filesBroker, memoryStore } from "@keyhole/worker-host/brokers/files";
import { expect, it } from "vitest";
import { toolOf } from "../support/kernel.ts";

// The name and the size of a file are read with it: a list shows what `stat` would.

const files = ["notes/a.txt", "notes/merger.key", "notes/private/p.txt", "other/x"];
const folders = ["", "notes", "notes/private", "other"];
const hidden = ["notes/*.key", "notes/private/**"];

/** What each folder shows, and what `stat` says of each name that is there. */
async function look(_: never, { files: own }: ToolContext): Promise<unknown> {
  const served = (asked: Promise<unknown>): Promise<boolean> => asked.then(Boolean, () => false);
  const listed: string[] = [];
  for (const folder of folders) {
    const { entries } = await own.list(folder).catch(() => ({ entries: [] }));
    listed.push(...entries.map(({ name }) => (folder === "" ? name : `${folder}/${name}`)));
  }
  const readable: string[] = [];
  for (const path of [...folders, ...files]) if (await served(own.stat(path))) readable.push(path);
  return { listed, readable };
}

const all = { kind: "fs.read", paths: ["**"] } as const;

it.each<[string, object, Partial<PolicyDocument>, CallOptions]>([
  ["the grant excepts", { ...all, except: hidden }, {}, {}],
  ["the grant leaves out", { ...all, paths: ["notes", "notes/a.txt"] }, {}, {}],
  [
    "a rule denies",
    all,
    { rules: [{ id: "no", effect: "deny", when: { path: hidden }, reason: "They are secret." }] },
    {},
  ],
  ["the policy forbids the tool", all, { tools: { subject: { paths: { forbidden: hidden } } } }, {}],
  ["the call's own grants leave out", all, {}, { grants: [{ ...all, except: hidden }] }],
])("a list shows no file that %s", async (_, capability, more, options) => {
  const store = memoryStore();
  for (const path of files) await store.write(path, new TextEncoder().encode(path));
  const grants = [{ tool: "*", capability }] as unknown as PolicyDocument["grants"];
  const policy = { version: "1", posture: "permissive", grants, ...more } as PolicyDocument;
  const kernel = await createKernel({ policy, brokers: [filesBroker(store)] });
  const manifest = { effects: ["fs.read"], determinism: "external", capabilities: [all] };
  expect(kernel.registerTrusted(toolOf(look, manifest))).toMatchObject({ ok: true });
  const result = await kernel.call("subject", {}, options);
  const { listed, readable } = (result.ok ? result.data : {}) as Record<string, readonly string[]>;
  expect(listed).toContain("notes/a.txt");
  expect(listed).not.toContain("notes/merger.key");
  expect(readable).toEqual(expect.arrayContaining([...listed!]));
});
