/** A path, split at its slashes. */
export type Segments = readonly string[];

interface Node {
  readonly children: Map<string, Node>;
  /** Of the names of its children. */
  readonly lengths: Set<number>;
  /** Matches this place and everything below. */
  isPrefix: boolean;
  /** All that lies below, and nothing that ends here: the prefix ends in a slash. */
  isAbove: boolean;
}

/** Prefixes of paths. A look-up takes as many steps as the path has segments, however many prefixes there are, and ends where none begins so. */
export class PathTree {
  readonly #root: Node = newNode();

  constructor(prefixes: readonly string[]) {
    for (const prefix of prefixes) {
      const segments = prefix.split("/");
      const isAbove = segments.length > 1 && segments.at(-1) === "";
      if (isAbove) segments.pop();
      let node = this.#root;
      for (const segment of segments) {
        const child = node.children.get(segment) ?? newNode();
        node.children.set(segment, child);
        node.lengths.add(segment.length);
        node = child;
      }
      if (isAbove) node.isAbove = true;
      else node.isPrefix = true;
    }
  }

  /** Whether one of the prefixes is the path, or lies above it, on whole segments. */
  has(path: Segments): boolean {
    return this.#leads(path, ({ children }, name) => {
      const child = children.get(name);
      return child ? [child] : [];
    });
  }

  /** As {@link has}, where a name of the path may also go on with a sign: `/users` meets `/users.json`. */
  meets(path: Segments): boolean {
    return this.#leads(path, ({ children, lengths }, name) =>
      [...lengths].flatMap((length) => {
        const ends = length === name.length || (length < name.length && !goesOn(name, length));
        return (ends && children.get(name.slice(0, length))) || [];
      }),
    );
  }

  #leads(path: Segments, below: (node: Node, name: string) => readonly Node[]): boolean {
    let nodes: readonly Node[] = [this.#root];
    for (const name of path) {
      if (nodes.some(({ isAbove }) => isAbove)) return true;
      nodes = nodes.flatMap((node) => below(node, name));
      if (nodes.length === 0) return false;
      if (nodes.some(({ isPrefix }) => isPrefix)) return true;
    }
    return false;
  }
}

/** Whether a name goes on as one: with a letter, a digit, or what joins them. */
function goesOn(name: string, at: number): boolean {
  return /^[\p{L}\p{N}\p{M}_+-]/u.test(String.fromCodePoint(name.codePointAt(at)!));
}

function newNode(): Node {
  return { children: new Map(), lengths: new Set(), isPrefix: false, isAbove: false };
}
