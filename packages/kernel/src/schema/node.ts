import type { Check, Pattern } from "./types.ts";

// The demand of a node. Numbers, so that one switch decides.
export const ANY = 0;
export const STRING = 1;
export const INTEGER = 2;
export const NUMBER = 3;
export const BOOLEAN = 4;
export const LENGTH = 5;
export const CHOICE = 6;
export const RECORD = 7;
export const ARRAY = 8;
export const TEXT = 9;
export const TYPES = 10;
export const VALUES = 11;
export const DEEP = 12;
export const TYPED = 13;
export const MAP = 14;
export const ALL = 15;
export const SOME = 16;
export const ONE = 17;
export const TAG = 18;
export const NOT = 19;
export const IF = 20;
export const REF = 21;
export const NONE = 22;
export const PAY = 23;
export const TEST = 24;

/** The largest double: `value <= MAX` also says that a number is finite. */
export const MAX: number = Number.MAX_VALUE;

/**
 * One compiled subschema. Every node has every field, in this order: engines give all of them one hidden class, so that
 * reads stay fast however many schemas a process holds.
 */
export class Node {
  op: number;
  /** Bounds: of a number, of the length of a string or array, of the number of members. */
  lo: number = -MAX;
  hi: number = MAX;
  /** TYPES, TYPED: the allowed types. */
  mask = 0;
  /** RECORD, MAP: how many of `members` are required. */
  need = 0;
  /** RECORD, MAP: in the order of `properties`, and END. */
  members: readonly Member[] = NO_MEMBERS;
  byName: ReadonlyMap<string, Member> = NO_NAMES;
  /** RECORD, MAP: the node of other members. */
  extra: Node | undefined = undefined;
  /** MAP */
  patterns: readonly PatternMember[] = NO_PATTERNS;
  /** MAP: required names that are not among `members`. */
  names: readonly string[] = NO_TEXTS;
  /** The branches; ARRAY: the items at the start. */
  list: readonly Node[] = NO_NODES;
  /** CHOICE: strings; DEEP: any values. */
  values: readonly unknown[] = NO_VALUES;
  /** VALUES */
  set: ReadonlySet<unknown> | undefined = undefined;
  /** ARRAY: other items; NOT, IF: the test; REF: where it leads; TYPED: strings; ALL: what fills in defaults itself. */
  a: Node | undefined = undefined;
  /** ARRAY: `contains`; IF: then; TYPED: arrays. */
  b: Node | undefined = undefined;
  /** IF: else; TYPED: objects; MAP: `propertyNames`. */
  c: Node | undefined = undefined;
  /** The check of a keyword without an operation; TEXT: the format; TYPED: `multipleOf`. */
  test: Check | undefined = undefined;
  pattern: Pattern | undefined = undefined;
  /** TAG: the property that picks the branch. */
  key = "";
  byTag: ReadonlyMap<unknown, Node> = NO_TAGS;
  unique = false;
  /** ARRAY: how many items `contains` finds at least and at most; PAY: checks that are paid. */
  least = 0;
  most: number = MAX;
  /** RECORD, MAP: the members that may be filled in. */
  defaults: readonly Default[] = NO_DEFAULTS;
  /** Whether a default has a place here or below. */
  fills = false;
  /** RECORD, MAP: the members below which one may. */
  fillers: readonly Member[] = NO_MEMBERS;

  constructor(op: number) {
    this.op = op;
  }
}

/** A member of a record. It repeats the demands of its node, so that leaves need no call. */
export class Member {
  readonly key: string;
  readonly node: Node;
  /** Where the next member is looked for first. */
  readonly next: number;
  readonly op: number;
  readonly lo: number;
  readonly hi: number;
  readonly need: 0 | 1;

  constructor(key: string, node: Node, next: number, need: 0 | 1) {
    this.key = key;
    this.node = node;
    this.next = next;
    this.op = node.op;
    this.lo = node.lo;
    this.hi = node.hi;
    this.need = need;
  }
}

export interface PatternMember {
  readonly pattern: Pattern;
  readonly node: Node;
}

/** The value of a missing property. */
export interface Default {
  readonly name: string;
  readonly value: unknown;
  readonly node: Node;
  /** The steps that one copy takes. */
  readonly steps: number;
  /** False until its check. */
  fits: boolean;
}

const NO_MEMBERS: readonly Member[] = [];
const NO_NAMES: ReadonlyMap<string, Member> = /* @__PURE__ */ new Map();
const NO_PATTERNS: readonly PatternMember[] = [];
const NO_TEXTS: readonly string[] = [];
const NO_NODES: readonly Node[] = [];
const NO_VALUES: readonly unknown[] = [];
const NO_TAGS: ReadonlyMap<unknown, Node> = /* @__PURE__ */ new Map();
const NO_DEFAULTS: readonly Default[] = [];

export const ALWAYS: Node = /* @__PURE__ */ new Node(ANY);
export const NEVER: Node = /* @__PURE__ */ new Node(NONE);
/** After the last member of a record. Its key is a string like the others, so that comparing with it stays the same operation. */
export const END: Member = /* @__PURE__ */ new Member("\0", NEVER, 0, 0);

export function testNode(test: Check): Node {
  const node = new Node(TEST);
  node.test = test;
  return node;
}
