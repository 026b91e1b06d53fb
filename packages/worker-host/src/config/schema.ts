import type { JsonObject } from "@keyhole/kernel";
import { busSection } from "./sections/bus.ts";
import { httpSection } from "./sections/http.ts";
import { brokersSection, modeTriggersSection, secretsSection, sinkSection, toolsSection } from "./sections/kernel.ts";
import { pipelinesSection } from "./sections/pipelines.ts";
import { limitsSection, policySection } from "./sections/policy.ts";

/** JSON Schema (2020-12) of a configuration, one property for each section. */
export const configSchema: JsonObject = {
  type: "object",
  properties: {
    $schema: { type: "string", description: "The JSON Schema of this file, for editors." },
    version: { const: "1", description: 'The version of this format: "1".' },
    tools: { description: "Files, folders and packages of tools, relative to this file.", ...toolsSection },
    http: { description: "Tools that are requests, by their names.", ...httpSection },
    pipelines: { description: "Tools that call tools in a row, by their names.", ...pipelinesSection },
    policy: { description: "A policy, or the path of its file. Default: no grants.", ...policySection },
    limits: { description: "Lower bounds of tools, by their names.", ...limitsSection },
    modeTriggers: { description: "When the mode of the kernel changes by itself.", ...modeTriggersSection },
    sink: { description: "The file of the audit log. Default: memory.", ...sinkSection },
    brokers: { description: "The folders, files and programs that tools can reach.", ...brokersSection },
    secrets: { description: "The environment variables that hold secrets, by name.", ...secretsSection },
    bus: { description: "The message bus: tools offered to other kernels, and tools of theirs.", ...busSection },
  },
  required: ["version"],
  additionalProperties: false,
};
