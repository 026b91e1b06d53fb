import { Reader } from "./reader.ts";
import { malformed, MeterRefusal } from "./refusal.ts";
import { METER_SECTION } from "./meter-section.ts";

/** Identifiers of sections (core specification 3.0, section 5.5.2). */
export const section = {
  custom: 0,
  type: 1,
  import: 2,
  function: 3,
  table: 4,
  memory: 5,
  global: 6,
  export: 7,
  start: 8,
  element: 9,
  code: 10,
  data: 11,
  dataCount: 12,
  tag: 13,
} as const;

/** The order in which sections stand in a module. */
export const order: readonly number[] = [
  section.type,
  section.import,
  section.function,
  section.table,
  section.memory,
  section.tag,
  section.global,
  section.export,
  section.start,
  section.element,
  section.dataCount,
  section.code,
  section.data,
];

export interface Section {
  readonly id: number;
  /** The body, from here. */
  readonly from: number;
  readonly to: number;
}

/** Custom sections that name places in function bodies, which move: hints for branches and debug information. */
const positional = /^(?:metadata\.code\.|\.debug_|sourceMappingURL$)/;

/** Where everything is, in the order of the file, without the custom sections that would no longer be true. */
export function readLayout(bytes: Uint8Array): Section[] {
  const reader = new Reader(bytes, 8);
  const sections: Section[] = [];
  while (!reader.done) {
    const id = reader.byte();
    const body = reader.part(reader.u32());
    const { at: from, end: to } = body;
    if (id === section.custom) {
      const name = body.name();
      if (name === METER_SECTION)
        throw new MeterRefusal("ALREADY_METERED", "The module is metered already.", "Give the original module.");
      if (positional.test(name)) continue;
    } else if (!order.includes(id)) {
      throw malformed(`a section of the kind ${id}`);
    }
    sections.push({ id, from, to });
  }
  return sections;
}

export function find(sections: readonly Section[], id: number, bytes: Uint8Array): Reader | undefined {
  const found = sections.find((each) => each.id === id);
  return found && new Reader(bytes, found.from, found.to);
}
