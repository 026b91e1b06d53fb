const { EDGE = "http://127.0.0.1:8787", TOKEN } = process.env;

/** Asks the edge. `body` makes it a POST. */
export async function ask(path: string, body?: unknown): Promise<any> {
  if (TOKEN === undefined) throw new Error("Set TOKEN to the token that `npm start` prints.");
  const post = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
  const headers = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };
  const response = await fetch(new URL(path, EDGE), { ...post, headers });
  const text = await response.text();
  return text === "" ? undefined : JSON.parse(text);
}
