import { expect, it } from "vitest";
import { nodeUrls } from "virtual:urls-on-node";
import { urlsRead } from "./urls.ts";

it("the interpreter reads URLs as on Node", () => {
  const read = urlsRead();
  expect(Object.keys(read)).toHaveLength(Object.keys(nodeUrls).length);
  const others = Object.entries(read).filter(([text, href]) => nodeUrls[text] !== href);
  // Some of all kinds.
  const some = others.filter((_, at) => at % Math.ceil(others.length / 40) === 0);
  expect(some.map(([text, href]) => [text, href, nodeUrls[text]])).toEqual([]);
});
