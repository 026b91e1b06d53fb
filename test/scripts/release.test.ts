import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { publicPackages } from "../../scripts/project.mjs";
import { tarballOf } from "../../scripts/pack.mjs";
import { root } from "../support/sources.ts";

const read = (path: string): string => readFileSync(root + path, "utf8");
const manifests = publicPackages.map(
  (name) =>
    JSON.parse(read(`packages/${name}/package.json`)) as {
      readonly name: string;
      readonly version: string;
      readonly dependencies?: Readonly<Record<string, string>>;
    },
);
const names = manifests.map(({ name }) => name).toSorted();

it("a release gives all public packages one version", () => {
  const { fixed } = JSON.parse(read(".changeset/config.json")) as { readonly fixed: readonly (readonly string[])[] };
  expect(fixed.map((group) => group.toSorted())).toEqual([names]);
  expect(new Set(manifests.map(({ version }) => version)).size).toBe(1);
});

it("the release workflow publishes each tarball, after those that it depends on", () => {
  const [, list = ""] = /for name in ([a-z -]+); do/.exec(read(".github/workflows/release.yml")) ?? [];
  const tarballs = publicPackages.map((name) => tarballOf(name).replace(/^.*[\\/](.*)-\d+\.\d+\.\d+\.tgz$/, "$1"));
  const published = list.split(" ");
  expect(published.toSorted()).toEqual(tarballs.toSorted());
  for (const [index, { dependencies = {} }] of manifests.entries())
    for (const name of Object.keys(dependencies).filter((each) => names.includes(each)))
      expect(published.indexOf(name.replace(/^@(.*)\//, "$1-"))).toBeLessThan(published.indexOf(tarballs[index]!));
});
