import type { AuditEvent, JsonObject } from "@keyhole/kernel";

/** Events that the published schema must not take, each with what is wrong with it. */
export function wrongEvents(event: AuditEvent): [what: string, event: JsonObject][] {
  const given = event as unknown as JsonObject;
  return [
    [`${event.type} with one more member`, { ...given, more: 1 }],
    [
      `${event.type} with one more member in its payload`,
      { ...given, payload: { ...(given["payload"] as JsonObject), more: 1 } },
    ],
    ["an unknown type", { ...given, type: "tool.forgotten" }],
    ...Object.keys(given).flatMap((key): [string, JsonObject][] => {
      const { [key]: _, ...less } = given;
      return [
        [`${event.type} without ${key}`, less],
        [`${event.type} with a list as ${key}`, { ...given, [key]: [] }],
      ];
    }),
  ];
}
