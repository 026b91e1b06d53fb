import { memoryStore } from "@keyhole/worker-host/brokers/files";

/* The world of the catalogue's contract: a database, files and pages of a web. */

export const never = new AbortController().signal;

export const setup = [
  ["CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT, picture BLOB)", "create"],
  ["INSERT INTO people VALUES (1, 'Ada', NULL), (2, 'Grüße', x'00ff'), (3, 'c', NULL), (4, 'd', NULL)", "insert"],
] as const;

export async function folderOf(count: number): Promise<ReturnType<typeof memoryStore>> {
  const store = memoryStore();
  for (let i = 0; i < count; i++) await store.write(`many/file-${String(i).padStart(2, "0")}`, new Uint8Array(i));
  return store;
}

const article = `<!doctype html><html><head><title>A &amp; B</title><style>p { color: red }</style></head><body>
<nav><a href="/">Home</a></nav><script>document.write("evil")</script>
<main><h1>Weather</h1><p>It is <b>warm</b> &amp; dry. See the <a href="/forecast">forecast</a>.</p><ul><li>one</li><li>two</li></ul></main>
<footer>imprint</footer></body></html>`;

const html = { headers: { "content-type": "text/html; charset=utf-8" } };
const plain = (charset: string): ResponseInit => ({
  headers: { "content-type": `text/plain; charset=${charset}` },
});

const pages: Readonly<Record<string, () => Response>> = {
  "/article": () => new Response(article, html),
  "/long": () => new Response("x".repeat(250), plain("utf-8")),
  "/latin": () => new Response(new Uint8Array([71, 114, 252, 223, 101]), plain("iso-8859-1")),
  "/unknown-charset": () => new Response("x", plain("no-such-charset")),
  "/picture": () => new Response(new Uint8Array([0x89, 0x50, 0, 1, 2]), { headers: { "content-type": "image/png" } }),
  "/endless": () => new Response(new Uint8Array(5 << 20), html),
  "/deep": () => new Response("<div>".repeat(20_000) + "end", html),
  "/unclosed": () => new Response("<p><b><i><table><tr><td>".repeat(2_000), html),
  "/broken": () => new Response("<!-- <script><![CDATA[ </body <a href='".repeat(100) + "\ud800\ufffe", html),
  "/tags": () => new Response("<x><y/></x>".repeat(50_000), html),
};

const found = {
  results: [
    {
      title: " First\n",
      url: "https://a.example.com/",
      content: "An\texcerpt",
      publishedDate: "2026-01-02",
      engine: "x",
    },
    "not a result",
    null,
    { title: "no address" },
    { title: "script", url: "data:text/html,<script>" },
    { title: 7, url: "https://b.example.com/", content: null },
    { title: "third", url: "https://c.example.com/" },
  ],
  answers: ["42", { answer: "fine" }, 1, ""],
};

export function pageAt(address: string): Response {
  const url = new URL(address);
  if (url.pathname !== "/search")
    return (pages[url.pathname] ?? (() => new Response("none", { status: 404, ...html })))();
  switch (url.searchParams.get("q")) {
    case "not JSON":
      return new Response("<html>", html);
    case "not the shape":
      return Response.json([1]);
    case "forbidden":
      return new Response("", { status: 403 });
    default: {
      const { format, language, time_range: time, pageno } = Object.fromEntries(url.searchParams);
      return format === "json" && language === "all" && time === "day" && pageno === "1"
        ? Response.json(found)
        : new Response("", { status: 400 });
    }
  }
}
