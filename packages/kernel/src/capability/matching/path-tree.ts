/** A path, split at its slashes. */
export type Segments = readonly string[];

interface Node {
  readonly children: Map<string, Node>;
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
        node = child;
      }
      if (isAbove) node.isAbove = true;
      else node.isPrefix = true;
    }
  }

  /** Whether one of the prefixes is the path, or lies above it, on whole segments. */
  has(path: Segments): boolean {
    let node: Node | undefined = this.#root;
    for (const segment of path) {
      if (node.isAbove) return true;
      node = node.children.get(segment);
      if (node === undefined) return false;
      if (node.isPrefix) return true;
    }
    return false;
  }
}

function newNode(): Node {
  return { children: new Map<string, Node>(), isPrefix: false, isAbove: false };
}
