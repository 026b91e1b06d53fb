import { json } from "../support.ts";
import { as, list, number, object, type Service, text, tool } from "./service.ts";

const forecast: Service = {
  tool: (origin) =>
    tool({
      name: "forecast",
      http: {
        url: `${origin}/v1/forecast?current=temperature_2m{&latitude,longitude}`,
        responses: {
          "200": { output: { celsius: { $from: "body#/current/temperature_2m" } } },
          "400": { error: { code: "BAD_PLACE", message: { $from: "body#/reason" } } },
        },
      },
      input: object({ latitude: number, longitude: number }),
      output: as(object({ celsius: number })),
    }),
  input: { latitude: 52.5, longitude: -13.25 },
  invalid: { latitude: "52.5", longitude: 13 },
  request: "GET /v1/forecast?current=temperature_2m&latitude=52.5&longitude=-13.25",
  answer: () => json({ current: { temperature_2m: 21.5, time: "2026-01-01T00:00" } }),
  data: { celsius: 21.5 },
  failure: () => json({ error: true, reason: "Latitude must be in range." }, { status: 400 }),
  error: ["BAD_PLACE", "Latitude must be in range."],
};

const issues: Service = {
  tool: (origin) =>
    tool({
      name: "issues",
      http: {
        url: `${origin}/repos/{owner}/{repo}/issues{?state,labels,page}`,
        headers: { accept: "application/vnd.github+json", authorization: "Bearer {secret.token}" },
        responses: { "404": { error: { code: "NO_REPOSITORY", message: { $from: "body#/message" } } } },
      },
      input: object(
        { owner: text, repo: text, state: { enum: ["open", "closed"] }, labels: list(text), page: number },
        ["owner", "repo"],
      ),
      output: as(list({ type: "object", properties: { number, title: text }, required: ["number", "title"] })),
    }),
  input: { owner: "ada", repo: "engine", state: "open", labels: ["bug", "good first issue"] },
  invalid: { owner: "ada" },
  request: "GET /repos/ada/engine/issues?state=open&labels=bug,good%20first%20issue",
  headers: { accept: "application/vnd.github+json", authorization: "Bearer 0123456789abcdef" },
  answer: () =>
    json([{ number: 7, title: "It leaks" }], { headers: { "content-type": "application/json; charset=utf-8" } }),
  data: [{ number: 7, title: "It leaks" }],
  failure: () => json({ message: "Not Found" }, { status: 404 }),
  error: ["NO_REPOSITORY", "Not Found"],
};

const summary: Service = {
  tool: (origin) =>
    tool({
      name: "summary",
      http: {
        url: `${origin}/page/summary/{title}{?redirect}`,
        responses: { "200": { output: { $from: "body#/extract" } }, "4XX": { error: { code: "NO_PAGE" } } },
      },
      input: object({ title: text, redirect: { type: "boolean" } }, ["title"]),
      output: { kind: "text" },
    }),
  input: { title: "Größe & Maß?", redirect: false },
  invalid: { title: ".." },
  request: "GET /page/summary/Gr%C3%B6%C3%9Fe%20%26%20Ma%C3%9F%3F?redirect=false",
  answer: () => json({ extract: "Sie ist groß." }),
  data: "Sie ist groß.",
  failure: () => new Response("gone", { status: 410 }),
  error: ["NO_PAGE", "HOST answered with 410."],
};

const rawFile: Service = {
  tool: (origin) =>
    tool({
      name: "raw_file",
      http: { url: `${origin}/{owner}/HEAD/{+path}` },
      input: object({ owner: text, path: text }),
      output: { kind: "text" },
    }),
  input: { owner: "ada", path: "src/a b/main.ts" },
  invalid: { owner: "ada", path: "src/../../secret" },
  request: "GET /ada/HEAD/src/a%20b/main.ts",
  answer: () => new Response("export {};\n", { headers: { "content-type": "text/plain" } }),
  data: "export {};\n",
  failure: () => new Response("404: Not Found", { status: 404 }),
  error: ["HTTP_404", "HOST answered with 404."],
};

const tile: Service = {
  tool: (origin) =>
    tool({
      name: "tile",
      http: { url: `${origin}{/z,x,y}.png`, responses: { "429": { error: { code: "TOO_FAST", retryable: false } } } },
      input: object({ z: { type: "integer", minimum: 0 }, x: { type: "integer" }, y: { type: "integer" } }),
      output: { kind: "binary", mediaType: "image/png" },
    }),
  input: { z: 1, x: 2, y: 3 },
  invalid: { z: -1, x: 2, y: 3 },
  request: "GET /1/2/3.png",
  answer: () => new Response(new Uint8Array([137, 80, 78, 71]), { headers: { "content-type": "image/png" } }),
  data: new Uint8Array([137, 80, 78, 71]),
  failure: () => new Response(null, { status: 429 }),
  error: ["TOO_FAST", "HOST answered with 429."],
};

const rates: Service = {
  tool: (origin) =>
    tool({
      name: "rates",
      http: {
        url: `${origin}/{date}?key={secret.token}{&from,to}`,
        responses: { "2XX": { mediaType: "text/javascript", output: { $from: "body#/rates" } } },
      },
      input: object({ date: { type: "string", format: "date" }, from: text, to: list(text) }),
      output: as({ type: "object", additionalProperties: number }),
    }),
  input: { date: "2026-01-02", from: "EUR", to: ["USD", "GBP"] },
  invalid: { date: "yesterday", from: "EUR", to: [] },
  request: "GET /2026-01-02?key=0123456789abcdef&from=EUR&to=USD,GBP",
  answer: () => new Response('{"rates":{"USD":1.1,"GBP":0.8}}', { headers: { "content-type": "text/javascript" } }),
  data: { USD: 1.1, GBP: 0.8 },
  failure: () => new Response("busy", { status: 503 }),
  error: ["HTTP_503", "HOST answered with 503."],
};

export const reading: readonly Service[] = [forecast, issues, summary, rawFile, tile, rates];
