/**
 * The longest time for which one piece of work of the kernel holds its thread: `npm run bench:worst`. Searches each kind of work for the worst input within its limits: random
 * inputs, then changes of the worst one. Prints processor time of the thread, which others on the machine hardly change, and never fails on a time.
 */
import { bodyLimits } from "../../packages/edge/src/app/body.ts";
import { jsonExcess } from "../../packages/kernel/src/foreign.ts";
import { hashText, parseUrl } from "../../packages/kernel/src/index.ts";
import { canonicalJson, canonicalTextOf } from "../../packages/kernel/src/json/canonical-json.ts";
import { snapshotInOrder, takeJson } from "../../packages/kernel/src/json/snapshot.ts";
import * as limits from "../../packages/kernel/src/limits.ts";
import { compileSchema } from "../../packages/kernel/src/schema/compile-schema.ts";
import { explain } from "../../packages/kernel/src/schema/explain/index.ts";
import { meter } from "../../packages/worker-host/src/wasm/meter/meter.ts";

/** What an input is made of: numbers from 0 to 1. */
type Genes = readonly number[];

interface Work {
  readonly name: string;
  /** Makes an input, and returns the work on it. */
  readonly make: (genes: Genes) => () => unknown;
}

const RANDOM = 6;
const CHANGED = 4;
const GENES = 4;
const BAR_MS = 50;
/** Of a body that the edge takes. */
const TEXT_LENGTH = 6_500_000;

const pick = <Value>(gene: number, values: readonly Value[]): Value =>
  values[Math.min(values.length - 1, Math.floor(gene * values.length))]!;

const repeated = (text: string, length: number): string =>
  text
    .repeat(Math.ceil(length / text.length))
    .slice(0, length)
    .toWellFormed();

function jsonText([shape = 0, size = 0]: Genes): string {
  const { nodes, members } = limits;
  const member = pick<(at: number) => string>(shape, [
    () => "[]",
    () => "{}",
    (at) => `${at}.5e-3`,
    (at) => `"\\u00e9${at}"`,
    (at) => `{"a":${at}}`,
  ]);
  // The last kind has two values and a member in each item.
  const most = shape >= 0.8 ? Math.min(nodes / 2, members) : nodes;
  const count = Math.ceil(size * (most - 1));
  const parts: string[] = [];
  for (let at = 0, length = 0; at < count && length < TEXT_LENGTH; at++)
    length += parts[parts.push(member(at)) - 1]!.length;
  return `[${parts.join(",")}]`;
}

function named([size = 0, kind = 0, shape = 0]: Genes): object {
  const member = pick<(at: number) => unknown>(shape, [() => 1, (at) => String(at), () => [], (at) => at / 7]);
  const name = pick<(at: number) => string>(kind, [(at) => `n${at}`, (at) => `${at}`, (at) => `\u00e9${at}`]);
  return Object.fromEntries(
    Array.from({ length: Math.ceil(size * (limits.members - 1)) }, (_, at) => {
      const unordered = (at * 7_919) % limits.members;
      return [name(unordered), member(at)];
    }),
  );
}

/** A value of one wide object, or of many small things. */
function valueOf([shape = 0, ...more]: Genes): unknown {
  return shape < 0.5 ? named(more) : JSON.parse(jsonText(more));
}

const most = { maxDepth: limits.depth, maxNodes: limits.nodes, maxMembers: limits.members };

const schemas = [
  { type: "object" },
  { type: "object", properties: { a: { type: "string" } }, additionalProperties: false },
  { type: "object", additionalProperties: { type: "string" } },
  { type: "object", patternProperties: { "^(a+)+$": { type: "null" } }, additionalProperties: { minLength: 3 } },
  { type: "object", properties: { a: { default: 1 } }, propertyNames: { pattern: "^[a-m]*x" } },
];

const LEB = (value: number): number[] => (value < 128 ? [value] : [(value & 127) | 128, ...LEB(value >>> 7)]);

/** A function of one instruction again and again. */
function moduleOf([instruction = 0, size = 0]: Genes): Uint8Array<ArrayBuffer> {
  const one = pick(instruction, [[0x01], [0x41, 1, 0x1a], [0x02, 0x40, 0x0b], [0x03, 0x40, 0x0b], [0x10, 0]]);
  const times = Math.floor((size * 900_000) / one.length);
  const body = [0, ...Array.from({ length: times }, () => one).flat(), 0x0b];
  const code = [1, ...LEB(body.length)];
  const sections = [
    [1, 4, 1, 0x60, 0, 0],
    [3, 2, 1, 0],
    [10, ...LEB(code.length + body.length), ...code],
  ];
  return Uint8Array.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, ...sections.flat(), ...body]);
}

const works: readonly Work[] = [
  {
    name: "count in a body",
    make(genes) {
      const text = JSON.stringify(valueOf(genes));
      return () => jsonExcess(text, bodyLimits);
    },
  },
  {
    name: "parse and check",
    make(genes) {
      const text = JSON.stringify(valueOf(genes));
      return () => takeJson(text, most);
    },
  },
  {
    name: "snapshot",
    make(genes) {
      const value = valueOf(genes);
      return () => snapshotInOrder(value, most);
    },
  },
  {
    name: "canonical text and hash",
    make(genes) {
      const value = valueOf(genes);
      const plain = snapshotInOrder(value, most);
      return () => plain.ok && hashText(genes[3]! < 0.5 ? canonicalTextOf(plain) : canonicalJson(plain.value));
    },
  },
  {
    name: "validate and explain",
    make([schema = 0, ...genes]) {
      const compiled = compileSchema(pick(schema, schemas), { explain });
      const value = named(genes);
      return () => compiled.ok && compiled.validator.validate(value);
    },
  },
  {
    name: "parseUrl",
    make([kind = 0, size = 0, first = 0]) {
      const from = Math.floor(first * 60_000);
      const unit = pick(kind, [
        String.fromCodePoint(...Array.from({ length: 500 }, (_, at) => from + at)).toWellFormed(),
        "a.",
        "%61",
        "/../",
        "xn--a",
      ]);
      const text = repeated(unit, Math.ceil(size * 65_536));
      return () => [parseUrl(`https://${text}/`), parseUrl(`https://a.example/${text}?${text}`)];
    },
  },
  {
    name: "hash of a text",
    make([size = 0, kind = 0]) {
      const text = repeated(pick(kind, ["a", "\u00e9", "\u{1f600}"]), Math.ceil(size * TEXT_LENGTH));
      return () => hashText(text);
    },
  },
  {
    name: "metering 900 kB",
    make(genes) {
      const bytes = moduleOf(genes);
      return () => meter(bytes);
    },
  },
];

function processorMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

/** The faster of two: what else the machine does only ever makes one slower. */
function heldMs({ make }: Work, genes: Genes): number {
  const run = make(genes);
  const once = (): number => {
    const start = processorMs();
    run();
    return processorMs() - start;
  };
  return Math.min(once(), once());
}

console.log(`held at once, the worst input found (bar: ${BAR_MS} ms)`);
for (const work of works) {
  let worst = { ms: 0, genes: [] as Genes };
  const attempt = (genes: Genes): void => {
    const ms = heldMs(work, genes);
    if (ms > worst.ms) worst = { ms, genes };
  };
  for (let i = 0; i < RANDOM; i++) attempt(Array.from({ length: GENES }, () => Math.random()));
  const { genes } = worst;
  attempt(genes.map((gene, at) => (at === 0 ? gene : 1)));
  for (let i = 0; i < CHANGED; i++)
    attempt(worst.genes.map((gene) => Math.min(1, Math.max(0, gene + (Math.random() - 0.5) / 4))));
  const found = worst.genes.map((gene) => gene.toFixed(2)).join(" ");
  console.log(`${work.name.padEnd(30)}${worst.ms.toFixed(1).padStart(9)} ms   ${found}`);
}
