import { globSync, readFileSync } from "node:fs";
import { basename, dirname } from "node:path";
import { expect, it } from "vitest";
import { root } from "../support/sources.ts";
import { readPage, table } from "./markdown.ts";

const fields = ["dependencies", "devDependencies", "optionalDependencies", "peerDependencies"] as const;

const peers = globSync("test/peers/*/package.json", { cwd: root });

/** Name of a dependency to the packages of this repository that name it; `root` is the repository itself. */
function declared(): Map<string, string[]> {
  const manifests = {
    root: "package.json",
    ...Object.fromEntries(
      ["kernel", "worker-host", "keyhole", "mcp", "edge", "playground"].map((name) => [
        name,
        `packages/${name}/package.json`,
      ]),
    ),
    "peer site": "site/package.json",
    ...Object.fromEntries(peers.map((path) => [`peer ${basename(dirname(path))}`, path])),
  };
  const found = new Map<string, string[]>();
  for (const [owner, path] of Object.entries(manifests)) {
    const manifest = JSON.parse(readFileSync(root + path, "utf8")) as Record<
      string,
      Record<string, string> | undefined
    >;
    const names = new Set(fields.flatMap((field) => Object.keys(manifest[field] ?? {})));
    for (const name of names) if (!name.startsWith("@keyhole/")) found.set(name, [...(found.get(name) ?? []), owner]);
  }
  return found;
}

it("every dependency has its line, and no line is without one", () => {
  const { prose } = readPage("docs/dependencies.md");
  const rows = [
    ...table(prose, "Package", "Used by", "Why"),
    ...table(prose, "Package", "Why").map(([name, why]) => [name, "root", why]),
    ...table(prose, "Peer", "Packages", "Why").map(([peer, name, why]) => [
      name,
      `peer ${peer?.replaceAll("`", "")}`,
      why,
    ]),
  ];
  const explained = rows.flatMap(([names = "", owners = "", why = ""]) => {
    expect(why).toMatch(/\S/);
    return [...names.matchAll(/`([^`]+)`/g)].flatMap(([, name]) =>
      owners.split(", ").map((owner) => `${name} in ${owner}`),
    );
  });
  const wanted = [...declared()].flatMap(([name, owners]) => owners.map((owner) => `${name} in ${owner}`));
  expect(explained.toSorted()).toEqual(wanted.toSorted());
});
