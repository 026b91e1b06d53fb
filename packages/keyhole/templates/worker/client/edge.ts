const { EDGE = "http://127.0.0.1:8787", TOKEN } = process.env;

/** What this client reads of the edge's answers. Each answer has some of it. */
export interface EdgeAnswer {
  readonly approvals?: readonly {
    readonly approvalId: string;
    readonly tool: string;
    readonly input: unknown;
    readonly reason: string;
  }[];
  readonly events?: readonly unknown[];
  readonly next?: number;
  readonly ok?: boolean;
  readonly data?: unknown;
  readonly result?: { readonly error?: unknown };
}

/** Asks the edge. `body` makes it a POST. */
export async function ask(path: string, body?: unknown): Promise<EdgeAnswer> {
  if (TOKEN === undefined) throw new Error("Set TOKEN to the token that `npm start` prints.");
  const post = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
  const headers = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };
  const response = await fetch(new URL(path, EDGE), { ...post, headers });
  const text = await response.text();
  return text === "" ? {} : (JSON.parse(text) as EdgeAnswer);
}
