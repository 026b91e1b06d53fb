import { deeper, spend, spendOn } from "./budget.ts";
import { equal, isObject, unique } from "./equal.ts";
import { ARRAYS, FRACTIONS, INTEGERS, OBJECTS, STRINGS, typeOf } from "./json-type.ts";
import { isLengthWithin } from "./length.ts";
import { hasAll, memberOf, read } from "./members.ts";
import type * as op from "./node.ts";
import { END, MAX, type Member, type Node, type PatternMember } from "./node.ts";
import type { JsonObject } from "./types.ts";

// One interpreter for all schemas of a process.

// Constants of this module are part of the optimised code; imported ones are read each time, a tenth of the whole time.
const ANY: typeof op.ANY = 0;
const STRING: typeof op.STRING = 1;
const INTEGER: typeof op.INTEGER = 2;
const NUMBER: typeof op.NUMBER = 3;
const BOOLEAN: typeof op.BOOLEAN = 4;
const LENGTH: typeof op.LENGTH = 5;
const CHOICE: typeof op.CHOICE = 6;
const RECORD: typeof op.RECORD = 7;
const ARRAY: typeof op.ARRAY = 8;
const TEXT: typeof op.TEXT = 9;
const TYPES: typeof op.TYPES = 10;
const VALUES: typeof op.VALUES = 11;
const DEEP: typeof op.DEEP = 12;
const TYPED: typeof op.TYPED = 13;
const MAP: typeof op.MAP = 14;
const ALL: typeof op.ALL = 15;
const SOME: typeof op.SOME = 16;
const ONE: typeof op.ONE = 17;
const TAG: typeof op.TAG = 18;
const NOT: typeof op.NOT = 19;
const IF: typeof op.IF = 20;
const REF: typeof op.REF = 21;
const PAY: typeof op.PAY = 23;
const TEST: typeof op.TEST = 24;

/** Whether a value conforms to a node. */
export function check(node: Node, value: unknown): boolean {
  switch (node.op) {
    case ANY:
      return true;
    case STRING:
      return typeof value === "string";
    case INTEGER:
      return typeof value === "number" && Number.isInteger(value) && value >= node.lo && value <= node.hi;
    case NUMBER:
      return typeof value === "number" && value >= node.lo && value <= node.hi;
    case BOOLEAN:
      return typeof value === "boolean";
    case LENGTH:
      return typeof value === "string" && isLengthWithin(value, node.lo, node.hi);
    case CHOICE:
      return typeof value === "string" && isOneOf(node.values, value);
    case RECORD:
      return isObject(value) && record(node, value);
    case MAP:
      return isObject(value) && map(node, value);
    case ARRAY:
      return Array.isArray(value) && array(node, value);
    case TEXT:
      return typeof value === "string" && text(node, value);
    case TYPES:
      return (typeOf(value) & node.mask) !== 0;
    case TYPED:
      return typed(node, value);
    case VALUES:
      return node.set?.has(value) === true;
    case REF:
      return node.a !== undefined && deeper(check, node.a, value);
    case TEST:
      return node.test?.(value) === true;
    default:
      return combined(node, value);
  }
}

/** Nodes that apply other nodes to the same value. */
function combined(node: Node, value: unknown): boolean {
  switch (node.op) {
    case ALL:
      return all(node.list, value);
    case SOME:
    case ONE:
      return some(node.list, value, node.op === ONE);
    case TAG: {
      const branch = isObject(value) ? node.byTag.get(memberOf(value, node.key)) : undefined;
      return branch !== undefined && check(branch, value);
    }
    case NOT:
      return node.a !== undefined && !check(node.a, value);
    case IF: {
      spendOn(value, 2);
      const branch = node.a !== undefined && check(node.a, value) ? node.b : node.c;
      return branch !== undefined && check(branch, value);
    }
    case PAY:
      spendOn(value, node.least);
      return true;
    case DEEP:
      spend(node.values.length);
      return node.values.some((each) => equal(each, value));
    default:
      return false;
  }
}

/** Members usually come in the order of the schema, and then need no lookup. */
function record(node: Node, value: JsonObject): boolean {
  const { members } = node;
  spend(1);
  let next = 0;
  let left = node.need;
  let size = 0;
  for (const key in value) {
    const member = read(value, key);
    if ((++size & 15) === 0) spend(16);
    if (member === undefined) continue;
    let known = members[next] as Member;
    if (known.key !== key || known === END) {
      const found = node.byName.get(key);
      if (found === undefined) {
        const extra = node.extra as Node;
        if (extra.op !== ANY && !check(extra, member)) return false;
        continue;
      }
      known = found;
    }
    next = known.next;
    left -= known.need;
    switch (known.op) {
      case ANY:
        break;
      case STRING:
        if (typeof member !== "string") return false;
        break;
      case INTEGER:
        if (!(typeof member === "number" && Number.isInteger(member) && member >= known.lo && member <= known.hi))
          return false;
        break;
      case NUMBER:
        if (!(typeof member === "number" && member >= known.lo && member <= known.hi)) return false;
        break;
      case BOOLEAN:
        if (typeof member !== "boolean") return false;
        break;
      case LENGTH:
        if (!(typeof member === "string" && isLengthWithin(member, known.lo, known.hi))) return false;
        break;
      default:
        if (!check(known.node, member)) return false;
    }
  }
  return left === 0;
}

/**
 * Objects with names that the schema does not know, and those of which more is asked. Engines often keep them as tables;
 * a walker of their own leaves that of records fast.
 */
function map(node: Node, value: JsonObject): boolean {
  const { members, byName, patterns, c: names } = node;
  const extra = node.extra as Node;
  let next = 0;
  let left = node.need;
  let size = 0;
  for (const key in value) {
    const member = read(value, key);
    spend(1);
    if (member === undefined) continue;
    size++;
    if (names !== undefined && !check(names, key)) return false;
    const first = members[next] as Member;
    const own = first.key === key && first !== END ? first : byName.get(key);
    let isKnown = own !== undefined;
    if (own !== undefined) {
      next = own.next;
      left -= own.need;
      if (!check(own.node, member)) return false;
    }
    for (let index = 0; index < patterns.length; index++) {
      const { pattern, node: other } = patterns[index] as PatternMember;
      if (!pattern.matches(key)) continue;
      isKnown = true;
      if (!check(other, member)) return false;
    }
    if (!isKnown && extra.op !== ANY && !check(extra, member)) return false;
  }
  return left === 0 && size >= node.lo && size <= node.hi && hasAll(value, node.names);
}

function array(node: Node, value: readonly unknown[]): boolean {
  const { length } = value;
  if (length < node.lo || length > node.hi) return false;
  const { list } = node;
  const item = node.a as Node;
  if (item.op !== ANY || list.length > 0) spend(length);
  let index = 0;
  for (; index < list.length && index < length; index++) if (!check(list[index] as Node, value[index])) return false;
  switch (item.op) {
    case ANY:
      break;
    case STRING:
      for (; index < length; index++) if (typeof value[index] !== "string") return false;
      break;
    case RECORD:
      for (; index < length; index++) {
        const each = value[index];
        if (!(isObject(each) && record(item, each))) return false;
      }
      break;
    default:
      for (; index < length; index++) if (!check(item, value[index])) return false;
  }
  return (!node.unique || unique(value)) && (node.b === undefined || contains(node, node.b, value));
}

function contains({ least, most }: Node, item: Node, value: readonly unknown[]): boolean {
  spend(value.length);
  let found = 0;
  for (let index = 0; index < value.length; index++) {
    if (check(item, value[index]) && (++found > most || (found >= least && most === MAX))) return found <= most;
  }
  return found >= least;
}

function text(node: Node, value: string): boolean {
  return (
    isLengthWithin(value, node.lo, node.hi) &&
    (node.pattern === undefined || node.pattern.matches(value)) &&
    (node.test === undefined || node.test(value))
  );
}

/** Several types, or keywords for types that the schema does not ask for. */
function typed(node: Node, value: unknown): boolean {
  const bit = typeOf(value);
  if ((bit & node.mask) === 0) return false;
  switch (bit) {
    case STRINGS:
      return node.a === undefined || check(node.a, value);
    case ARRAYS:
      return node.b === undefined || check(node.b, value);
    case OBJECTS:
      return node.c === undefined || check(node.c, value);
    case INTEGERS:
    case FRACTIONS:
      return (
        typeof value === "number" &&
        value >= node.lo &&
        value <= node.hi &&
        (node.test === undefined || node.test(value))
      );
    default:
      return true;
  }
}

function all(list: readonly Node[], value: unknown): boolean {
  spend(1);
  for (let index = 0; index < list.length; index++) if (!check(list[index] as Node, value)) return false;
  return true;
}

/** At least one of the nodes, or exactly one. */
function some(list: readonly Node[], value: unknown, exactly: boolean): boolean {
  spendOn(value, list.length);
  let found = 0;
  for (let index = 0; index < list.length; index++) {
    if (check(list[index] as Node, value) && (++found > 1 || !exactly)) return !exactly;
  }
  return found === 1;
}

/** A comparison that has seen nothing but strings is a faster one. */
function isOneOf(list: readonly unknown[], value: string): boolean {
  for (let index = 0; index < list.length; index++) if (list[index] === value) return true;
  return false;
}
