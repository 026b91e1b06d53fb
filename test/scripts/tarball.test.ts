import { expect, it } from "vitest";
import { published, tarballFaults } from "../../scripts/tarball.mjs";

const files = ["LICENSE", "README.md", "package.json", "dist/index.js", "dist/index.d.ts", "dist/brokers/net.js"];
const manifest = published({
  exports: {
    ".": { "keyhole-source": "./src/index.ts", types: "./dist/index.d.ts", default: "./dist/index.js" },
    "./brokers/*": { "keyhole-source": "./src/brokers/*.ts", default: "./dist/brokers/*.js" },
    "./package.json": "./package.json",
  },
});

it("a tarball of README, LICENSE, dist and package.json has no fault", () => {
  expect(tarballFaults(files, manifest)).toEqual([]);
});

it.each([
  ["sources", [...files, "src/index.ts"], ["src does not belong there"]],
  ["a source map", [...files, "dist/index.js.map"], ["dist/index.js.map is none of .js, .d.ts, .wasm, .h"]],
  ["a source among the schemas", [...files, "schemas/policy.ts"], ["schemas/policy.ts is none of .json"]],
  ["a source in dist", [...files, "dist/index.ts"], ["dist/index.ts is none of .js, .d.ts, .wasm, .h"]],
  [
    "a page outside of the playground",
    [...files, "dist/playground/index.html", "dist/a.html"],
    ["dist/a.html is none of .js, .d.ts, .wasm, .h"],
  ],
  [
    "a map of the playground",
    [...files, "dist/playground/a.js.map"],
    [expect.stringContaining("dist/playground/a.js.map is none of .html") as string],
  ],
  ["no licence", files.filter((file) => file !== "LICENSE"), ["LICENSE is missing"]],
  [
    "an export that is not there",
    files.filter((file) => file !== "dist/index.d.ts"),
    ["./dist/index.d.ts is named in package.json and not there"],
  ],
  [
    "a pattern of exports without a file",
    files.filter((file) => !file.includes("brokers")),
    ["./dist/brokers/*.js is named in package.json and not there"],
  ],
])("a tarball with %s has a fault", (_, packed, faults) => {
  expect(tarballFaults(packed, manifest)).toEqual(faults);
});

it("a command that is not there is a fault", () => {
  expect(tarballFaults(files, { ...manifest, bin: { keyhole: "./dist/node/cli.js" } })).toEqual([
    "./dist/node/cli.js is named in package.json and not there",
  ]);
});

it("a published package.json names no sources", () => {
  expect(JSON.stringify(manifest)).not.toContain("src/");
  expect(tarballFaults(files, { exports: { ".": { "keyhole-source": "./src/index.ts" } } })).toEqual([
    "./src/index.ts is named in package.json and not there",
  ]);
});
