import { beforeEach, describe, expect, it } from "vitest";
import { problemOf } from "./problem.ts";
import { openService, type Service } from "./service.ts";

let service: Service;

beforeEach(async () => {
  service = await openService();
});

describe("a body without its envelope", () => {
  it("is told where the arguments belong", async () => {
    const response = await service.call("echo", { message: "hello" });
    expect(response.status).toBe(400);
    expect(await problemOf(response)).toMatchObject({
      detail: 'The body: expected the property "input", got an object.',
      hint: `Put the tool's arguments under "input".`,
    });
  });
});

describe("a request that is not as it should be", () => {
  const post = (body: string) =>
    service.send("/v1/tools/echo/calls", { method: "POST", headers: { "content-type": "application/json" }, body });

  it.each<[string, string, string]>([
    ["{}", 'The body: expected the property "input", got an object.', `Put the tool's arguments under "input".`],
    ["[]", "The body: expected an object, got an array of 0 items.", `Put the tool's arguments under "input".`],
    [
      '{"input":{},"cahce":true}',
      'The body: expected no property "cahce", got an object that has it.',
      'Did you mean "cache"?',
    ],
    [
      '{"input":{},"cache":"true"}',
      'The body at "/cache": expected a boolean, got the string "true".',
      "Write true without quotation marks.",
    ],
    [
      '{"input":{},"__proto__":{}}',
      'The body: expected no property "__proto__", got an object that has it.',
      'Put the tool\'s arguments under "input".',
    ],
    ['{"input":}', 'The body is not JSON: line 1, column 10: expected a value, got "}".', ""],
    ['{\n "input": {},\n}', 'The body is not JSON: line 3, column 1: expected a name in quotation marks, got "}".', ""],
    ["{'input':{}}", 'The body is not JSON: line 1, column 2: expected a name in quotation marks or }, got "\'".', ""],
    ['{"input" 1}', 'The body is not JSON: line 1, column 10: expected a colon, got "1".', ""],
    ['{"input":{}} x', 'The body is not JSON: line 1, column 14: expected the end, got "x".', ""],
    ['{"input":[1 2]}', 'The body is not JSON: line 1, column 13: expected a comma or ], got "2".', ""],
    ['{"input":"a', "The body is not JSON: line 1, column 12: expected a closing quotation mark, got the end.", ""],
    ['{"input":"\\x"}', 'The body is not JSON: line 1, column 11: expected an escape that JSON has, got "\\\\".', ""],
    ["", "The body is not JSON: line 1, column 1: expected a value, got the end.", ""],
  ])("is told what was expected, and what came: %j", async (body, detail, hint) => {
    const response = await post(body);
    expect(response.status).toBe(400);
    expect(await problemOf(response)).toMatchObject({ code: "INVALID_REQUEST", detail, hint });
  });

  it("is told the place of a fault in a long text", async () => {
    const place = "The body is not JSON: line 1, column 65538: expected a value, got the end.";
    expect(await problemOf(await post(" ".repeat(65_537)))).toMatchObject({ detail: place });
  });

  it.each<[string, string, string]>([
    ["/v1/audit?limit=1001", 'The query at "/limit": expected a number of at most 1000, got the number 1001.', ""],
    ["/v1/audit?limit=ten", 'The query at "/limit": expected an integer, got the string "ten".', ""],
    ["/v1/audit?from=-1", 'The query at "/from": expected a number of at least 0, got the number -1.', ""],
    ["/v1/audit?from=1.5", 'The query at "/from": expected an integer, got the number 1.5.', ""],
    ["/v1/audit?limt=1", 'The query: expected no property "limt", got an object that has it.', 'Did you mean "limit"?'],
    [
      "/v1/tools?tier=5",
      'The query at "/tier": expected one of 0, 1, 2, 3 or 4, got the number 5.',
      "Use 0, 1, 2, 3 or 4.",
    ],
    ["/v1/audit?from=0&from=1", 'The query has "from" twice.', ""],
    ["/v1/audit?limit=1&from=0&limit=1", 'The query has "limit" twice.', ""],
    ["/v1/tools?mode=ALERT&mode=NORMAL", 'The query has "mode" twice.', ""],
    ["/v1/tools?x=1&%78=2", 'The query has "x" twice.', ""],
    ["/v1/tools?mode=ALRT", 'The query at "/mode":', 'Did you mean "ALERT"?'],
  ])("is told so of a query, too: %s", async (path, detail, hint) => {
    const response = await service.send(path);
    expect(response.status).toBe(400);
    expect(await problemOf(response)).toMatchObject({ detail: expect.stringContaining(detail) as string, hint });
  });
});
