import { knownOptions, plainMembers, readTraceparent } from "@keyhole/kernel/foreign";
import {
  readVersionedId,
  type AuditEvent,
  type AuditEventOf,
  type CallOptions,
  type CallResult,
  type Kernel,
  limits,
  terminalTypes,
  type ToolPackage,
} from "@keyhole/kernel";
import {
  type Context,
  context,
  type Histogram,
  isSpanContextValid,
  metrics,
  type MeterProvider,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
  type Tracer,
  type TracerProvider,
  TraceFlags,
} from "@opentelemetry/api";
import { calledTool } from "./called-tool.ts";
import { callAttributes, eventAttributes, names, resultAttributes } from "./otel-names.ts";

export interface TracingOptions {
  /** Default: the global one, which does nothing until an SDK is registered. */
  readonly tracerProvider?: TracerProvider;
  readonly meterProvider?: MeterProvider;
}

/**
 * A kernel that reports its calls as spans and a metric of OpenTelemetry, by the conventions for
 * generative AI. The parent of a call's span is the span in `options.traceparent`, otherwise the
 * active one. The call's events are events of the span, and nested calls are its children.
 *
 * Arguments and outputs do not leave the kernel this way. A span has digests where the log has
 * digests.
 *
 * @example
 * const kernel = traced(await createKernel({ host, policy }));
 */
export function traced(kernel: Kernel, given: TracingOptions = {}): Kernel {
  const { tracerProvider, meterProvider } = knownOptions(
    given,
    { tracerProvider: true, meterProvider: true },
    "traced",
  );
  const spans = new CallSpans(
    (tracerProvider ?? trace).getTracer(names.scope),
    (meterProvider ?? metrics).getMeter(names.scope).createHistogram(names.duration, {
      unit: "s",
      description: "Duration of a tool execution.",
      advice: { explicitBucketBoundaries: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60, 300] },
    }),
  );
  kernel.audit.subscribe((event) => spans.hear(event));
  const call = (tool: string | ToolPackage, input: unknown, options: CallOptions = {}): Promise<CallResult> =>
    spans.around(tool, options, (traceable) => kernel.call(tool as string, input, traceable));
  return new Proxy(kernel, {
    get: (target, key) => {
      const value: unknown = key === "call" ? call : Reflect.get(target, key, target);
      return typeof value === "function" && key !== "call" ? (value.bind(target) as unknown) : value;
    },
  });
}

/** The span of a call that a tool makes. */
interface NestedSpan {
  readonly span: Span;
  readonly name: string;
  readonly startMs: number;
}

/** A span per call. Calls of a caller begin and end here; those that a tool makes, only the log tells of. */
class CallSpans {
  readonly #tracer: Tracer;
  readonly #duration: Histogram;
  /** Of all calls that run, by `callId`. */
  readonly #open = new Map<string, Span>();
  readonly #nested = new Map<string, NestedSpan>();

  constructor(tracer: Tracer, duration: Histogram) {
    this.#tracer = tracer;
    this.#duration = duration;
  }

  /** Runs one call of a caller in a span of its own. */
  async around(
    tool: unknown,
    options: CallOptions,
    run: (options: CallOptions) => Promise<CallResult>,
  ): Promise<CallResult> {
    // A copy leaves out what a class carries: the kernel refuses the object itself.
    const given: CallOptions | undefined = plainMembers(options);
    if (!given) return run(options);
    const name = calledTool(tool).name.slice(0, limits.nameLength).toWellFormed();
    const started = { kind: SpanKind.INTERNAL, attributes: callAttributes(name) };
    const span = this.#tracer.startSpan(`${names.operation} ${name}`, started, parentOf(given.traceparent));
    const own = span.spanContext();
    try {
      const result = await run({
        ...given,
        ...(isSpanContextValid(own) && { traceparent: `00-${own.traceId}-${own.spanId}-${flags(own.traceFlags)}` }),
        onEvent: this.#listener(span, given.onEvent),
      });
      this.#open.delete(result.callId);
      const code = result.ok ? undefined : result.error.code;
      span.setAttributes(resultAttributes(result));
      finish(span, code);
      this.#measure(name, code, result.meta.durationMs);
      return result;
    } catch (error) {
      span.setAttribute(names.error, "_OTHER");
      span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
      throw error;
    }
  }

  /** Takes one event of the log. */
  hear(event: AuditEvent): void {
    const span = event.type === "call.invoked" ? this.#startNested(event) : this.#nested.get(event.callId ?? "")?.span;
    if (span) addEvent(span, event);
    if (terminalTypes.includes(event.type) || event.type === "tool.suspended") this.#endNested(event);
  }

  #listener(span: Span, onEvent: CallOptions["onEvent"]): NonNullable<CallOptions["onEvent"]> {
    let callId: string | undefined;
    return (event) => {
      // It hears the calls of its tool as well: those have spans of their own.
      if (event.type === "call.invoked" && event.payload.parentCallId === null) callId = event.callId ?? "";
      if (event.callId === callId) {
        this.#open.set(callId, span);
        addEvent(span, event);
      }
      // The caller receives the returned promise, and handles its rejection.
      return onEvent?.(event);
    };
  }

  #startNested(event: AuditEventOf<"call.invoked">): Span | undefined {
    const { tool, parentCallId } = event.payload;
    const parent = this.#open.get(parentCallId ?? "");
    if (!parent || event.callId === null) return undefined;
    const { name } = readVersionedId(tool);
    const startMs = Date.parse(event.time);
    const attributes = { ...callAttributes(name), [names.callId]: event.callId, "keyhole.tool": tool };
    const options = { kind: SpanKind.INTERNAL, attributes, startTime: startMs };
    const span = this.#tracer.startSpan(`${names.operation} ${name}`, options, trace.setSpan(ROOT_CONTEXT, parent));
    this.#nested.set(event.callId, { span, name, startMs });
    this.#open.set(event.callId, span);
    return span;
  }

  #endNested({ callId, payload, time }: AuditEvent): void {
    const ending = this.#nested.get(callId ?? "");
    if (!ending || callId === null) return;
    this.#nested.delete(callId);
    this.#open.delete(callId);
    const { span, name, startMs } = ending;
    const code = "code" in payload ? payload.code : "snapshotId" in payload ? "SUSPENDED" : undefined;
    finish(span, code, Date.parse(time));
    this.#measure(name, code, Date.parse(time) - startMs);
  }

  #measure(tool: string, code: string | undefined, durationMs: number): void {
    this.#duration.record(durationMs / 1_000, {
      [names.operationName]: names.operation,
      ...(!isInvented(code) && { [names.tool]: tool }),
      ...(code !== undefined && { [names.error]: code }),
    });
  }
}

function addEvent(span: Span, event: AuditEvent): void {
  span.addEvent(`keyhole.${event.type}`, eventAttributes(event), new Date(event.time));
}

/**
 * An unknown tool name can be any text, and span names and metric labels must be few: such a call
 * has none.
 */
const isInvented = (code: string | undefined): boolean => code === "TOOL_NOT_FOUND";

function finish(span: Span, code: string | undefined, endMs?: number): void {
  if (isInvented(code)) span.updateName(names.operation);
  if (code !== undefined) span.setAttribute(names.error, code).setStatus({ code: SpanStatusCode.ERROR, message: code });
  span.end(endMs);
}

const flags = (value: number): string => (value & TraceFlags.SAMPLED ? "01" : "00");

/** The span that a caller names is somewhere else; what is malformed names none. */
function parentOf(traceparent: string | undefined): Context {
  const [traceId, spanId = "", bits = ""] = readTraceparent(traceparent);
  if (traceId === undefined) return context.active();
  const traceFlags = Number.parseInt(bits, 16) & TraceFlags.SAMPLED;
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true });
}
