import type { JsonObject } from "../../json/json.ts";
import { type Ask, bodyBytes } from "../ask.ts";
import type { Governed } from "../capability.ts";
import { checkCommand } from "../matching/command-names.ts";
import { checkCommandPattern, type CommandPattern, describeCommand, matchCommands } from "../matching/commands.ts";
import { defineFamily } from "../define-family.ts";
import type { Family } from "../family.ts";
import { areTexts, capabilityLimits, isText, patternsSchema } from "../fields.ts";

declare module "../capability.ts" {
  interface CapabilityTypes {
    "process.spawn": SpawnCapability;
  }
  interface EffectTypes {
    "process.spawn": true;
  }
  interface RequestConditions {
    /** Names of commands, with any arguments. */
    readonly command?: readonly string[];
  }
  interface ToolLists {
    /** Names of commands, with any arguments: only grants restrict arguments. */
    readonly commands?: Governed;
  }
  interface NeedTypes {
    "process.spawn": SpawnNeed;
  }
}

export interface SpawnCapability {
  readonly kind: "process.spawn";
  readonly commands: readonly CommandPattern[];
}

interface SpawnNeed {
  readonly kind: "process.spawn";
  readonly command: string;
  readonly args: readonly string[];
}

const argument: JsonObject = { type: "string", maxLength: capabilityLimits.argumentLength };
const whole: JsonObject = { type: "integer", minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER };
const forms: JsonObject = {
  oneOf: { type: "array", items: argument, minItems: 1, maxItems: 1000, uniqueItems: true },
  prefix: argument,
  path: patternsSchema,
  number: { type: "object", properties: { min: whole, max: whole }, additionalProperties: false },
};

function form(properties: JsonObject): JsonObject {
  return {
    type: ["string", "object"],
    maxLength: capabilityLimits.argumentLength,
    properties,
    minProperties: 1,
    maxProperties: 1,
    additionalProperties: false,
  };
}

/** The schema of a command's arguments: one pattern each. */
function commandsSchema(): JsonObject {
  return {
    type: "array",
    items: {
      type: "object",
      properties: {
        command: { type: "string", minLength: 1, maxLength: 64 },
        args: { type: "array", items: form({ ...forms, rest: form(forms) }), maxItems: capabilityLimits.arguments },
      },
      required: ["command"],
      additionalProperties: false,
    },
    minItems: 1,
    maxItems: 1000,
  };
}

/** Running commands, without a shell. A program can do anything that its user can. */
export const processSpawn: Family = /* @__PURE__ */ spawnFamily();

function spawnFamily(): Family {
  const kind = "process.spawn";
  return defineFamily<SpawnCapability, SpawnNeed>({
    kind,
    title: "Runs commands",
    effect: "changes",
    fields: { commands: { schema: commandsSchema() } },
    need: { command: isText, args: areTexts },
    check({ commands }) {
      for (const [index, command] of commands.entries()) {
        const fault = checkCommandPattern(command);
        if (fault)
          return {
            path: `/commands/${index}${fault.path}`,
            message: `${describeCommand(command).slice(0, 100)}: ${fault.reason}.`,
          };
      }
      return undefined;
    },
    covers:
      ({ commands }) =>
      ({ command, args }) =>
        matchCommands(commands, command, args),
    describe: ({ commands }) => commands.map(describeCommand).join(", "),
    target: ({ command }) => command,
    narrowest({ command, args }) {
      const isLong = args.some((each) => each.length > capabilityLimits.argumentLength);
      if (isLong || args.length > capabilityLimits.arguments) return undefined;
      return { kind, commands: [{ command, args }] };
    },
    conditions: {
      command: {
        check: checkCommand,
        touches: namesCommand,
        list: { name: "commands", covers: namesCommand, text: ({ command }) => command },
      },
    },
    sample: ({ command = "example" }) => ({ kind, command, args: [] }),
    command: (command, args) => ({ kind, command, args }),
    isNarrow: ({ commands }) => commands.every(({ args = [] }) => args.every((each) => typeof each === "string")),
  });
}

function namesCommand(names: readonly string[]): (need: SpawnNeed) => boolean {
  return ({ command }) => names.includes(command);
}

export type ToolSpawn = (
  command: string,
  args?: readonly string[],
  options?: { readonly stdin?: Uint8Array | string },
) => Promise<ToolProcess>;

export interface ToolProcess {
  readonly exitCode: number;
  readonly stdout: Uint8Array;
  readonly stderr: string;
}

/** The guest's half. */
export function spawnGuest(ask: Ask): ToolSpawn {
  return async (command, args = [], { stdin } = {}) => {
    const { value, body } = await ask<Pick<ToolProcess, "exitCode" | "stderr">>({
      kind: "process.spawn",
      operation: "run",
      arguments: { command: String(command), args: Array.from(args, String) },
      ...(stdin !== undefined && { body: bodyBytes(stdin) }),
    });
    const { exitCode, stderr } = value;
    return { exitCode, stdout: body ?? new Uint8Array(), stderr };
  };
}
