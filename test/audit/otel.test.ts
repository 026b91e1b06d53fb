import { context, type Context, type ContextManager, ROOT_CONTEXT, SpanStatusCode, trace } from "@opentelemetry/api";
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { createKernel, type Kernel } from "@keyhole/kernel";
import { traced } from "@keyhole/worker-host/otel";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { echo, openPolicy, toolOf } from "../support/kernel.ts";
import { calling, openCalls } from "../support/nested.ts";

const exporter = new InMemorySpanExporter();
const tracerProvider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
const metricExporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
const reader = new PeriodicExportingMetricReader({ exporter: metricExporter, exportIntervalMillis: 3_600_000 });
const meterProvider = new MeterProvider({ readers: [reader] });

const trusted = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
let kernel: Kernel;

beforeEach(async () => {
  exporter.reset();
  kernel = traced(await createKernel({ policy: openPolicy }), { tracerProvider, meterProvider });
  kernel.registerTrusted(echo);
  kernel.registerTrusted(
    toolOf(() => {
      throw new RangeError("on purpose");
    }),
  );
});
afterEach(() => kernel.close());

const spans = () => exporter.getFinishedSpans();

describe("a call with OpenTelemetry", () => {
  it("is a span by the conventions for generative AI", async () => {
    const result = await kernel.call("echo", { message: "secret words" });
    expect(spans()).toHaveLength(1);
    const [span] = spans();
    expect(span).toMatchObject({ name: "execute_tool echo", kind: 0, status: { code: SpanStatusCode.UNSET } });
    expect(span!.attributes).toMatchObject({
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": "echo",
      "gen_ai.tool.type": "function",
      "gen_ai.tool.call.id": result.callId,
      "keyhole.tool": "echo@1.0.0",
      "keyhole.decision": "allow",
      "keyhole.proof.hash": result.proof!.hash,
      "keyhole.output.hash": result.ok ? result.hash : "",
    });
    expect(span!.attributes).not.toHaveProperty("error.type");
    expect(span!.events.map(({ name }) => name)).toEqual([
      "keyhole.call.invoked",
      "keyhole.capability.checked",
      "keyhole.policy.decided",
      "keyhole.tool.started",
      "keyhole.tool.completed",
    ]);
    expect(span!.events[3]!.attributes).toMatchObject({ "keyhole.tool": "echo@1.0.0", "keyhole.host": "inline" });
    // What was said and answered stays in the kernel.
    expect(JSON.stringify([span!.attributes, span!.events])).not.toContain("secret words");
  });

  it("that fails has the kernel's code as its error type", async () => {
    await kernel.call("subject", {});
    await kernel.call("absent", {});
    expect(spans().map(({ name, attributes, status }) => [name, attributes["error.type"], status])).toEqual([
      ["execute_tool subject", "TOOL_ERROR", { code: SpanStatusCode.ERROR, message: "TOOL_ERROR" }],
      ["execute_tool", "TOOL_NOT_FOUND", { code: SpanStatusCode.ERROR, message: "TOOL_NOT_FOUND" }],
    ]);
  });

  it("of tools that there are none of makes no names of spans and no labels, whatever a caller asks for", async () => {
    metricExporter.reset();
    const long = "x".repeat(100_000);
    for (const name of ["absent", "absent@1.0.0", long, "\ud800"]) await kernel.call(name, {});
    for (const nothing of [{}, null, 7, { manifest: { name: 7 } }]) {
      const result = await kernel.call(nothing as unknown as string, {});
      expect(result).toMatchObject({ ok: false, error: { code: "TOOL_NOT_FOUND" } });
    }
    await reader.forceFlush();
    expect(new Set(spans().map(({ name }) => name))).toEqual(new Set(["execute_tool"]));
    expect(Math.max(...spans().map(({ attributes }) => String(attributes["gen_ai.tool.name"]).length))).toBe(256);
    const [metric] = metricExporter
      .getMetrics()
      .flatMap(({ scopeMetrics }) => scopeMetrics.flatMap(({ metrics }) => metrics));
    const labels = metric!.dataPoints.map(({ attributes }) => attributes);
    expect(labels.filter((each) => each["error.type"] === "TOOL_NOT_FOUND")).toEqual([
      { "gen_ai.operation.name": "execute_tool", "error.type": "TOOL_NOT_FOUND" },
    ]);
  });

  it("continues the trace of its caller, and the kernel continues its own", async () => {
    const result = await kernel.call("echo", { message: "x" }, { traceparent: trusted });
    const [span] = spans();
    const { traceId, spanId } = span!.spanContext();
    expect(traceId).toBe("0af7651916cd43dd8448eb211c80319c");
    expect(span!.parentSpanContext).toMatchObject({ spanId: "b7ad6b7169203331", isRemote: true });
    expect(result.meta.traceparent).toMatch(new RegExp(`^00-${traceId}-(?!${spanId})[0-9a-f]{16}-01$`));
    const events = await kernel.audit.read();
    expect(
      events
        .filter(({ callId }) => callId === result.callId)
        .every((event) => event.traceparent === result.meta.traceparent),
    ).toBe(true);
  });

  it.each(["", "nonsense", `00-${"0".repeat(32)}-b7ad6b7169203331-01`])(
    "begins a trace where %j names none",
    async (traceparent) => {
      await kernel.call("echo", { message: "x" }, { traceparent });
      expect(spans()[0]!.parentSpanContext).toBeUndefined();
    },
  );

  it("is a child of the active span", async () => {
    const parent = tracerProvider.getTracer("test").startSpan("chat");
    context.setGlobalContextManager(fixed(trace.setSpan(ROOT_CONTEXT, parent)));
    try {
      await kernel.call("echo", { message: "x" });
    } finally {
      context.disable();
      parent.end();
    }
    expect(spans()[0]!.parentSpanContext?.spanId).toBe(parent.spanContext().spanId);
  });

  it("is measured in seconds, by tool and error", async () => {
    metricExporter.reset();
    await kernel.call("echo", { message: "x" });
    await kernel.call("subject", {});
    await reader.forceFlush();
    const [metric] = metricExporter
      .getMetrics()
      .flatMap(({ scopeMetrics }) => scopeMetrics.flatMap(({ metrics }) => metrics));
    expect(metric!.descriptor).toMatchObject({ name: "gen_ai.execute_tool.duration", unit: "s" });
    const points = metric!.dataPoints.map(({ attributes }) => attributes);
    expect(points).toContainEqual({ "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "echo" });
    expect(points).toContainEqual({
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": "subject",
      "error.type": "TOOL_ERROR",
    });
  });

  it("has the calls that its tool makes as children, also those that fail", async () => {
    const outer = traced(await createKernel({ policy: openCalls }), { tracerProvider, meterProvider });
    outer.registerTrusted(echo);
    outer.registerTrusted(
      calling("outer", async (_, { tools }) => {
        await tools.call("echo", { message: "inner" });
        await tools.call("echo", { message: 1 });
        return 1;
      }),
    );
    expect(await outer.call("outer", {}, { traceparent: trusted })).toMatchObject({ ok: true });
    const [first, second, parent] = spans();
    expect(spans().map(({ name }) => name)).toEqual(["execute_tool echo", "execute_tool echo", "execute_tool outer"]);
    for (const child of [first!, second!]) {
      expect(child.parentSpanContext?.spanId).toBe(parent!.spanContext().spanId);
      expect(child.spanContext().traceId).toBe("0af7651916cd43dd8448eb211c80319c");
      expect(child.attributes).toMatchObject({ "gen_ai.tool.name": "echo", "gen_ai.tool.call.id": expect.any(String) });
    }
    expect(parent!.events.filter(({ name }) => name === "keyhole.call.invoked")).toHaveLength(1);
    expect(first!.events.at(-1)!.name).toBe("keyhole.tool.completed");
    expect(second!.attributes["error.type"]).toBe("INVALID_INPUT");
  });

  it("works without an SDK, and keeps what the caller passes", async () => {
    const bare = traced(await createKernel({ policy: openPolicy }));
    bare.registerTrusted(echo);
    const heard: string[] = [];
    const result = await bare.call(
      "echo",
      { message: "x" },
      { traceparent: trusted, onEvent: ({ type }) => heard.push(type) },
    );
    expect(result.meta.traceparent).toMatch(/^00-0af7651916cd43dd8448eb211c80319c-/);
    expect(heard).toContain("tool.completed");
    await bare.setMode("ALERT", "drill");
    expect(bare.mode).toBe("ALERT");
  });
});

/** A context manager that knows one context. */
function fixed(active: Context): ContextManager {
  const manager: ContextManager = {
    active: () => active,
    with: (_, work, self, ...given) => work.call(self as never, ...given),
    bind: (_, target) => target,
    enable: () => manager,
    disable: () => manager,
  };
  return manager;
}
