import { describe, expect, it } from "vitest";
import { encodings, type SecretEncoding, unfound } from "../support/secret-encodings.ts";
import { readPage, section, table } from "./markdown.ts";

const page = readPage("docs/secrets.md");
const rowsOf = (rows: readonly SecretEncoding[]): readonly (readonly string[])[] =>
  rows.map(({ name, detail }) => [name, detail]);

describe("docs/secrets.md", () => {
  it("lists exactly the encodings that are tested to be found", () => {
    const found = table(section(page, "Detected encodings")!, "Encoding", "Found");
    expect(found).toEqual(rowsOf(encodings));
  });

  it("lists exactly the ways that are tested not to be found", () => {
    const written = table(section(page, "Undetected encodings")!, "Written", "For example");
    expect(written).toEqual(rowsOf(unfound));
  });
});
