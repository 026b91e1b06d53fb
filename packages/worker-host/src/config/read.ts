import {
  type JsonValue,
  type ModeTrigger,
  type PolicyDocument,
  snapshot,
  type Tool,
  type ToolPackage,
  pointerOf,
} from "@keyhole/kernel";
import { compileSchema, type Validator } from "@keyhole/kernel/schema";
import { explain } from "@keyhole/kernel/schema/explain";
import { atUnknownKey, type ConfigFault, isFault } from "./fault.ts";
import { configSchema } from "./schema.ts";
import { type BusEntry, busTools } from "./sections/bus.ts";
import { type HttpEntry, readHttp } from "./sections/http.ts";
import type { BrokersEntry, SecretsEntry, SinkEntry } from "./sections/kernel.ts";
import { type PipelineEntry, readPipelines } from "./sections/pipelines.ts";
import { type LimitedPolicy, type Limits, policyWith } from "./sections/policy.ts";

/** A configuration as it is written. Each section has a file in `sections/`. */
export interface ConfigDocument {
  readonly $schema?: string;
  readonly version: "1";
  /** Files, folders and packages of tools. The command packs them. */
  readonly tools?: readonly string[];
  /** [Requests](http-tools.md) by name. */
  readonly http?: Readonly<Record<string, HttpEntry>>;
  /** Tools that call tools in a row, by name. Each step is a call, and needs the grant `tool.call`. */
  readonly pipelines?: Readonly<Record<string, PipelineEntry>>;
  /** A [policy](../policy.md), or the path of its file. */
  readonly policy?: JsonValue;
  /** Lower bounds, by tool. */
  readonly limits?: Limits;
  /** Automatic changes of the mode. */
  readonly modeTriggers?: readonly ModeTrigger[];
  /** The place of the log. */
  readonly sink?: SinkEntry;
  /** `files`, `values`, `databases` and `commands` of the [Node host](../tools.md#on-node). */
  readonly brokers?: BrokersEntry;
  /** `NAME: { env: VARIABLE }`. The file holds no value. */
  readonly secrets?: SecretsEntry;
  /** The [message bus](bus.md#in-a-configuration). */
  readonly bus?: BusEntry;
}

/** A configuration that was checked, and the tools that it defines. */
export interface Config {
  readonly document: ConfigDocument;
  /**
   * Puts the limits on the policy that holds: `instead`, or that of the configuration. A policy
   * without them cannot be read here, so that neither puts the other out of force.
   */
  readonly limited: (instead?: unknown) => LimitedPolicy;
  /** Requests. */
  readonly packages: readonly ToolPackage[];
  /** Pipelines: data that the kernel's own realm runs, so the program registers them as trusted. */
  readonly pipelines: readonly Tool[];
}

export type ReadConfig =
  | { readonly ok: true; readonly config: Config }
  | { readonly ok: false; readonly fault: ConfigFault };

/**
 * Checks a configuration: the same on every host.
 *
 * @param policyFile reads the policy where the configuration names a file; without it such a configuration is refused
 */
export function readConfig(foreign: unknown, policyFile?: (path: string) => JsonValue): ReadConfig {
  const plain = snapshot(foreign);
  if (!plain.ok) {
    const { path, message } = plain.error;
    return refused({ path, message: `The configuration is not plain JSON data: ${message}.`, hint: "" });
  }
  const read = readOwn(plain.value, policyFile);
  return read.ok ? read : refused(atUnknownKey(read.fault, plain.value));
}

function readOwn(own: JsonValue, policyFile: ((path: string) => JsonValue) | undefined): ReadConfig {
  const valid = validator().validateOwn(own);
  if (!valid.ok) {
    const [first] = valid.errors;
    return refused({ path: first?.instancePath ?? "", message: first?.message ?? "", hint: first?.hint ?? "" });
  }
  const document = valid.value as ConfigDocument;
  const { http = {}, pipelines = {}, limits = {}, bus } = document;
  const twice = Object.keys(http).find((name) => Object.hasOwn(pipelines, name));
  if (twice !== undefined)
    return refused({
      path: pointerOf(["pipelines", twice]),
      message: `Two tools have the name ${twice}: a request and a pipeline.`,
      hint: "Rename one of them.",
    });
  const bussed = [...busTools(bus)].find(([name]) => Object.hasOwn(http, name) || Object.hasOwn(pipelines, name));
  if (bussed)
    return refused({
      path: pointerOf(bussed[1]),
      message: `Two tools have the name ${bussed[0]}: one comes from the bus.`,
      hint: "Rename one of them, or the source.",
    });
  const packages = readHttp(http);
  if (isFault(packages)) return refused(packages);
  const tools = readPipelines(pipelines);
  if (isFault(tools)) return refused(tools);
  const named = document.policy;
  if (typeof named === "string" && !policyFile)
    return refused({
      path: "/policy",
      message: "The policy is the path of a file, and this host has no files.",
      hint: "Write the policy itself.",
    });
  const written = typeof named === "string" ? policyFile?.(named) : named;
  const limited = (instead?: unknown): LimitedPolicy => {
    if (instead === undefined) return policyWith(written, limits);
    // Without limits the kernel alone checks it: it can know more kinds.
    const isWhole = Object.keys(limits).length === 0;
    return isWhole ? { ok: true, policy: instead as PolicyDocument } : policyWith(instead as JsonValue, limits);
  };
  const policy = limited();
  if (!policy.ok) return refused(policy);
  return { ok: true, config: { document, limited, packages, pipelines: tools } };
}

function refused({ path, message, hint }: ConfigFault): ReadConfig {
  return { ok: false, fault: { path, message, hint } };
}

let compiled: Validator | undefined;

function validator(): Validator {
  if (compiled) return compiled;
  const schema = compileSchema(configSchema, { explain, defaults: "ignore" });
  if (!schema.ok) throw new TypeError(schema.error.message);
  return (compiled = schema.validator);
}

/** The first step of a pipeline whose tool is none of these. */
export function unknownStep({ document }: Config, names: ReadonlySet<string>): ConfigFault | undefined {
  for (const [pipeline, { steps }] of Object.entries(document.pipelines ?? {}))
    for (const [place, { tool }] of steps.entries())
      if (!names.has(tool))
        return {
          path: pointerOf(["pipelines", pipeline, "steps", place, "tool"]),
          message: `There is no tool ${JSON.stringify(tool)}.`,
          hint: "Define it under `http`, `pipelines` or `bus`, or name its file under `tools`.",
        };
  return undefined;
}
