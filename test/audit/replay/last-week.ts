import type { RunEntry } from "@keyhole/kernel/replay";

/**
 * A run of `weekly` that was recorded on Node, in a worker thread. What it says about outputs holds on every host. `toolHash` is that of the package, which changes with
 * whatever bundles it.
 */
export const entriesOf = (toolHash: string): RunEntry[] => [
  {
    kind: "call",
    tool: "weekly@1.0.0",
    toolHash,
    callId: "01a1fd6c-1e1a-7bbc-882a-0e2333559db6",
    sessionId: "01a1fd6c-1e1a-7bbc-882a-0e2333559db6",
    inputText: '{"week":47}',
    outputKind: "json",
    outputBytes: 1048576,
    seed: "ad6b02b7a0e9897d4c83af1abde2bc7c6944c15eb4a931682dc49410f789410c",
    nowMs: 1795253083674,
    real: [],
  },
  {
    kind: "request",
    callId: "01a1fd6c-1e1a-7bbc-882a-0e2333559db6",
    index: 0,
    request: {
      kind: "net.read",
      operation: "fetch",
      arguments: { headers: [], method: "GET", url: "https://example.com/sales?week=47" },
      body: null,
    },
    requestHash: "blake3:2418aafb2bcc6a730e7d970e35376506119e60361bfc9666437df032effd3e27",
  },
  {
    kind: "reply",
    callId: "01a1fd6c-1e1a-7bbc-882a-0e2333559db6",
    index: 0,
    reply: {
      ok: true,
      value: {
        url: "https://example.com/sales?week=47",
        status: 200,
        statusText: "",
        redirected: false,
        headers: [["content-type", "text/plain"]],
      },
    },
    body: "MTIgc29sZA==",
  },
  {
    kind: "request",
    callId: "01a1fd6c-1e1a-7bbc-882a-0e2333559db6",
    index: 1,
    request: { kind: "fs.read", operation: "read", arguments: { path: "notes.txt" }, body: null },
    requestHash: "blake3:a5277c82cb357f2cfbab98f3a2c2ecefea3ddde142de32b5eac8d0bddeb9c6d5",
  },
  {
    kind: "request",
    callId: "01a1fd6c-1e1a-7bbc-882a-0e2333559db6",
    index: 2,
    request: { kind: "fs.read", operation: "read", arguments: { path: "absent.txt" }, body: null },
    requestHash: "blake3:e5e6cadaff9ec67b970f8a6738711acec85c4b9248606494c55a36465732bc3d",
  },
  {
    kind: "reply",
    callId: "01a1fd6c-1e1a-7bbc-882a-0e2333559db6",
    index: 1,
    reply: { ok: true, value: null },
    body: "R3LDvMOfZQo=",
  },
  {
    kind: "reply",
    callId: "01a1fd6c-1e1a-7bbc-882a-0e2333559db6",
    index: 2,
    reply: {
      ok: false,
      error: {
        code: "UNAVAILABLE",
        message: '"absent.txt" does not exist.',
        hint: "List the folder to see its files.",
      },
    },
    body: null,
  },
  {
    kind: "request",
    callId: "01a1fd6c-1e1a-7bbc-882a-0e2333559db6",
    index: 3,
    request: {
      kind: "fs.write",
      operation: "write",
      arguments: { path: "report.json" },
      body: "blake3:e8933242996db9905de40b46aa5a5b4f9dc60c4ebdb532a2dc65290885cd4103",
    },
    requestHash: "blake3:ed2f56b7be305f01d540c5a7b8d7b3e7cb34e0244dfd73feb27ec8eaaf4d8969",
  },
  {
    kind: "reply",
    callId: "01a1fd6c-1e1a-7bbc-882a-0e2333559db6",
    index: 3,
    reply: { ok: true, value: null },
    body: null,
  },
  {
    kind: "outcome",
    callId: "01a1fd6c-1e1a-7bbc-882a-0e2333559db6",
    outcome: "returned",
    result: {
      form: "json",
      text: '{"absent":"\\"absent.txt\\" does not exist.","at":"2026-11-21T09:24:43.674Z","chance":[0.048520902541400734,0.8302370749340869,0.1465991593047693],"notes":"Grüße\\n","number":0.30000000000000004,"order":["sales","notes","absent"],"sales":"12 sold","sameClock":true,"week":47,"words":["É","FI","SS"]}',
    },
    outcomeHash: "blake3:515709ab77816f804f67750d549f77d1544d0d0a21400bd7bc7a793761e6f75c",
  },
];
