/** A set of node numbers that is emptied at no cost: `at` says where each number would be among the members. */
export class NodeSet {
  members: Uint16Array = new Uint16Array(0);
  size = 0;
  #at: Uint16Array = new Uint16Array(0);

  /** Empties the set, and makes room for numbers below `count`. */
  clear(count: number): void {
    this.size = 0;
    if (count <= this.members.length) return;
    this.members = new Uint16Array(count);
    this.#at = new Uint16Array(count);
  }

  add(node: number): void {
    const at = this.#at[node] as number;
    if (at < this.size && this.members[at] === node) return;
    this.#at[node] = this.size;
    this.members[this.size++] = node;
  }

  /** A text that equal sets share; the order of the members is lost. */
  text(): string {
    return String.fromCharCode(...this.members.subarray(0, this.size).sort());
  }
}
