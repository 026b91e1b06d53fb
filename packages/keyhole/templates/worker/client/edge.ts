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
  readonly code?: string;
  readonly detail?: string;
}

function stop(why: string): never {
  console.error(why);
  process.exit(1);
}

/** Asks the edge. `body` makes it a POST. */
export async function ask(path: string, body?: unknown): Promise<EdgeAnswer> {
  if (!TOKEN) stop("Set TOKEN to the token that `npm start` prints.");
  const post = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
  const headers = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };
  const response = await fetch(new URL(path, EDGE), { ...post, headers }).catch(() =>
    stop(`No edge answers at ${EDGE}. \`npm start\` starts one.`),
  );
  const text = await response.text();
  const answer = text === "" ? {} : (JSON.parse(text) as EdgeAnswer);
  // A refused call has a result. Without one the edge refused the request itself.
  if (!response.ok && answer.result === undefined) stop(`${answer.code}: ${answer.detail}`);
  return answer;
}
