import type { Reader } from "./reader.ts";
import type { MeterExports } from "./meter-section.ts";

/** Names for what metering exports, none of which the module has itself. */
export function chooseNames(reader: Reader | undefined, hasStart: boolean): MeterExports {
  const taken = new Set<string>();
  if (reader) {
    for (let count = reader.u32(); count > 0; count--) {
      taken.add(reader.name());
      reader.byte();
      reader.u32();
    }
  }
  const free = (wish: string): string => {
    let name = wish;
    while (taken.has(name)) name += "'";
    return name;
  };
  return {
    fuel: free("keyhole.fuel"),
    pages: free("keyhole.pages"),
    refused: free("keyhole.refused"),
    ...(hasStart && { start: free("keyhole.start") }),
  };
}
