import { json } from "../support.ts";
import { as, list, number, object, type Service, text, tool } from "./service.ts";

const newIssue: Service = {
  tool: (origin) =>
    tool({
      name: "new_issue",
      http: {
        method: "POST",
        url: `${origin}/repos/{owner}/{repo}/issues`,
        body: { json: { title: { $from: "input#/title" }, body: { $from: "input#/body" }, labels: ["from-agent"] } },
        responses: {
          "201": { output: { number: { $from: "body#/number" }, place: { $from: "headers#/location" } } },
          "422": { error: { code: "REFUSED", message: { $from: "body#/errors/0/message" } } },
        },
      },
      input: object({ owner: text, repo: text, title: text, body: text }, ["owner", "repo", "title"]),
      output: as(object({ number, place: text })),
    }),
  input: { owner: "ada", repo: "engine", title: 'It "leaks"' },
  invalid: { owner: "ada", repo: "engine", title: "x", unknown: 1 },
  request: 'POST /repos/ada/engine/issues {"labels":["from-agent"],"title":"It \\"leaks\\""}',
  headers: { "content-type": "application/json" },
  answer: () => json({ number: 8 }, { status: 201, headers: { location: "/repos/ada/engine/issues/8" } }),
  data: { number: 8, place: "/repos/ada/engine/issues/8" },
  failure: () => json({ errors: [{ message: "title is too long" }] }, { status: 422 }),
  error: ["REFUSED", "title is too long"],
};

const charge: Service = {
  tool: (origin) =>
    tool({
      name: "charge",
      http: {
        method: "POST",
        url: `${origin}/v1/charges`,
        headers: { "idempotency-key": "{key}" },
        body: {
          form: {
            amount: { $from: "input#/cents" },
            currency: "eur",
            "metadata[note]": { $from: "input#/note" },
            expand: ["customer", "invoice"],
          },
        },
        responses: { "402": { error: { code: "CARD_DECLINED", message: { $from: "body#/error/message" } } } },
      },
      input: object({ cents: { type: "integer", minimum: 1 }, note: text, key: text }, ["cents", "key"]),
      output: as({ type: "object", properties: { id: text }, required: ["id"] }),
    }),
  input: { cents: 1250, note: "a&b=c", key: "k-1" },
  invalid: { cents: 0, key: "k-1" },
  request: "POST /v1/charges amount=1250&currency=eur&expand=customer&expand=invoice&metadata%5Bnote%5D=a%26b%3Dc",
  headers: { "idempotency-key": "k-1", "content-type": "application/x-www-form-urlencoded" },
  answer: () => json({ id: "ch_1", paid: true }),
  data: { id: "ch_1", paid: true },
  failure: () => json({ error: { message: "Your card was declined." } }, { status: 402 }),
  error: ["CARD_DECLINED", "Your card was declined."],
};

const search: Service = {
  tool: (origin) =>
    tool({
      name: "search",
      idempotent: true,
      http: {
        method: "POST",
        url: `${origin}/{index}/_search{?size}`,
        body: { json: { query: { match: { text: { $from: "input#/query" } } }, _source: { $from: "input#/fields" } } },
        responses: {
          "200": {
            output: { total: { $from: "body#/hits/total/value" }, first: { $from: "body#/hits/hits/0/_source" } },
          },
        },
      },
      input: object({ index: { type: "string", pattern: "^[a-z]+$" }, query: text, fields: list(text), size: number }, [
        "index",
        "query",
      ]),
      output: as(object({ total: number, first: { type: "object" } }, ["total"])),
    }),
  input: { index: "notes", query: "leak", size: 5 },
  invalid: { index: "Notes/_all", query: "x" },
  request: 'POST /notes/_search?size=5 {"query":{"match":{"text":"leak"}}}',
  answer: () => json({ hits: { total: { value: 0 }, hits: [] } }),
  data: { total: 0 },
  failure: () => json({}, { status: 400 }),
  error: ["HTTP_400", "HOST answered with 400."],
};

const putValue: Service = {
  tool: (origin) =>
    tool({
      name: "put_value",
      http: {
        method: "PUT",
        url: `${origin}/v1/kv/{key}{;lock}`,
        headers: { "content-type": "text/markdown", "if-match": "{version}" },
        body: { text: { $from: "input#/value" } },
        responses: {
          "204": { output: { stored: true, key: { $from: "input#/key" } } },
          "412": { error: { code: "CHANGED" } },
        },
      },
      input: object({ key: text, value: text, lock: text, version: text }, ["key", "value"]),
      output: as(object({ stored: { const: true }, key: text })),
    }),
  input: { key: "a.b", value: "# Größe", lock: "1" },
  invalid: { key: "", value: "x" },
  request: "PUT /v1/kv/a.b;lock=1 # Größe",
  headers: { "content-type": "text/markdown" },
  answer: () => new Response(null, { status: 204 }),
  data: { stored: true, key: "a.b" },
  failure: () => new Response(null, { status: 412 }),
  error: ["CHANGED", "HOST answered with 412."],
};

const removeUser: Service = {
  tool: (origin) =>
    tool({
      name: "remove_user",
      http: {
        method: "DELETE",
        url: `${origin}/users/{id}`,
        responses: { "2XX": { output: { status: { $from: "status#" } } }, default: { error: { code: "NOT_REMOVED" } } },
      },
      input: object({ id: { type: "integer" } }),
      output: as(object({ status: number })),
    }),
  input: { id: 12 },
  invalid: { id: "12/../1" },
  request: "DELETE /users/12",
  answer: () => new Response(null, { status: 202 }),
  data: { status: 202 },
  failure: () => new Response("no", { status: 409 }),
  error: ["NOT_REMOVED", "HOST answered with 409."],
};

const chat: Service = {
  tool: (origin) =>
    tool({
      name: "post_message",
      http: {
        method: "POST",
        url: `${origin}/api/chat.postMessage`,
        headers: { authorization: "Bearer {secret.token}" },
        body: { json: { channel: { $from: "input#/channel" }, text: { $from: "input#/text" } } },
      },
      input: object({ channel: text, text }),
      output: as({ type: "object", properties: { ok: { const: true }, ts: text }, required: ["ok", "ts"] }),
    }),
  input: { channel: "C1", text: "Hello" },
  invalid: { channel: "C1" },
  request: 'POST /api/chat.postMessage {"channel":"C1","text":"Hello"}',
  headers: { authorization: "Bearer 0123456789abcdef" },
  answer: () => json({ ok: true, ts: "1.2" }),
  data: { ok: true, ts: "1.2" },
  // It says in the body that it failed: the schema of the output refuses that.
  failure: () => json({ ok: false, error: "channel_not_found" }),
  error: ["INVALID_OUTPUT", ""],
};

export const writing: readonly Service[] = [newIssue, charge, search, putValue, removeUser, chat];
