interface Document {
  readonly name: string;
  /** The ratio that the project asks for. */
  readonly bar?: number;
  readonly value: unknown;
}

/** A fixed sequence in [0, 1): the documents are the same in every run. */
function sequence(seed: number): () => number {
  let state = seed;
  return () => (state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff) / 0x80000000;
}

const words = "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma tau".split(
  " ",
);

function writer(seed: number): {
  random: () => number;
  word: () => string;
  words: (count: number) => string;
} {
  const random = sequence(seed);
  const word = (): string => words[Math.floor(random() * words.length)] ?? "";
  return { random, word, words: (count) => Array.from({ length: count }, word).join(" ") };
}

/** What tools return most: records of ids, names, text, flags, a price, a nested object and a list; keys in no order. */
function records(count: number): unknown {
  const { random, word, words: some } = writer(count);
  const items = Array.from({ length: count }, (_, i) => ({
    id: 10_000 + i,
    name: `${word()} ${word()}`,
    email: `${word()}@example.com`,
    active: random() < 0.5,
    price: Math.round(random() * 10_000) / 100,
    tags: [word(), word(), word()],
    address: { street: some(3), city: word(), zip: String(20_000 + i), country: "DE" },
    note: i % 10 === 3 ? `line one\nline "two" ${some(5)}` : some(8),
    manager: i % 3 === 0 ? null : i * 7,
  }));
  return { total: count, next: null, items };
}

/** A page of an issue tracker's API, in the shape of a well-known one: what an agent reads all day. */
function issues(count: number): unknown {
  const { random, word, words: some } = writer(count + 1);
  const api = "https://api.example.com/repos/keyhole/kernel";
  const user = (): unknown => {
    const login = word();
    const url = `https://api.example.com/users/${login}`;
    return {
      login,
      id: Math.floor(random() * 1e6),
      avatar_url: `${url}/avatar?v=4`,
      url,
      type: "User",
      site_admin: false,
    };
  };
  return Array.from({ length: count }, (_, i) => ({
    url: `${api}/issues/${i}`,
    labels_url: `${api}/issues/${i}/labels{/name}`,
    comments_url: `${api}/issues/${i}/comments`,
    html_url: `https://example.com/keyhole/kernel/issues/${i}`,
    id: 1_200_000_000 + i * 37,
    node_id: `I_kwDOABCDEF${i.toString(36).padStart(6, "0")}`,
    number: i,
    title: some(7),
    user: user(),
    labels: Array.from({ length: i % 3 }, () => ({
      name: word(),
      color: "d73a4a",
      default: true,
      description: some(6),
    })),
    state: i % 4 === 0 ? "closed" : "open",
    assignee: i % 2 === 0 ? null : user(),
    comments: i % 17,
    created_at: "2026-03-04T05:06:07Z",
    updated_at: "2026-03-09T10:11:12Z",
    closed_at: i % 4 === 0 ? "2026-04-05T06:07:08Z" : null,
    body: `${some(10 + Math.floor(random() * 140))}${i % 3 === 0 ? `\n\n> "${some(12)}"` : ""}`,
  }));
}

/** Data as it comes from `JSON.parse`. */
export function documents(): Document[] {
  const { random, word, words: some } = writer(7);
  const made: Document[] = [
    { name: "issues", bar: 0.55, value: issues(1) },
    { name: "issues", bar: 0.6, value: issues(76) },
    { name: "issues", bar: 0.6, value: issues(3800) },
    { name: "short records", value: records(3) },
    { name: "short records", value: records(330) },
    { name: "text", value: Array.from({ length: 100 }, () => ({ title: some(6), body: some(150) })) },
    {
      name: "text, not ASCII",
      value: Array.from({ length: 100 }, () => ({ title: some(6), body: `Grüße – ${some(150)} 😀` })),
    },
    { name: "integers", value: Array.from({ length: 200 }, (_, i) => Array.from({ length: 60 }, (_, j) => i * j)) },
    { name: "doubles", value: Array.from({ length: 100 }, () => Array.from({ length: 60 }, random)) },
    {
      name: "every object another shape",
      bar: 0.3,
      value: Array.from({ length: 3000 }, (_, i) => ({ [`${word()}${i}`]: 1, [`${word()}${i + 1}`]: 2, [word()]: 3 })),
    },
    {
      name: "one wide object",
      bar: 0.3,
      value: Object.fromEntries(Array.from({ length: 4000 }, (_, i) => [`${word()}_${Math.floor(random() * 1e9)}`, i])),
    },
    { name: "short records", value: records(17_500) },
  ];
  return made.map((document) => ({ ...document, value: JSON.parse(JSON.stringify(document.value)) as unknown }));
}
