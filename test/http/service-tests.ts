import { type CallResult, type Kernel, type ToolPackage, verifyChain } from "@keyhole/kernel";
import { secretKeeper } from "@keyhole/kernel/secrets";
import { describe, expect, it } from "vitest";
import { FakeClock, passUntil } from "../support/fake-clock.ts";
import { reading } from "./services/reading.ts";
import { token, type Service } from "./services/service.ts";
import { writing } from "./services/writing.ts";
import { openHttpKernel, type Send } from "./support.ts";

/** A place where services answer: a server, or a function in the place of the network. */
export interface ServicePlace {
  readonly origin: string;
  readonly send: Send;
  /** Whether the broker looks for reports of its question, in real time. Default: it never asks. */
  readonly isAsking?: () => boolean;
  readonly close: () => Promise<void>;
}

const services = [...reading, ...writing];

interface Bench {
  readonly kernel: Kernel;
  readonly clock: FakeClock;
  readonly tool: ToolPackage;
  readonly got: string[];
  readonly headers: Headers[];
  readonly isAsking: ServicePlace["isAsking"];
  readonly call: (input: object) => Promise<CallResult>;
  readonly end: () => Promise<void>;
}

type Open = (answer: Send) => Promise<ServicePlace>;

async function benchOf(service: Service, answer: Send, open: Open): Promise<Bench> {
  const got: string[] = [];
  const headers: Headers[] = [];
  const place = await open(async (request) => {
    const { pathname, search } = new URL(request.url);
    got.push(`${request.method} ${pathname}${search} ${await request.clone().text()}`.trim());
    headers.push(request.headers);
    return answer(request);
  });
  const tool = service.tool(place.origin);
  const clock = new FakeClock();
  const secrets = secretKeeper({ get: (name) => (name === "token" ? token : undefined) });
  const kernel = await openHttpKernel([tool], place.send, { clock, secrets });
  const { name } = tool.manifest;
  const end = async (): Promise<void> => {
    const events = await kernel.audit.read();
    expect(verifyChain(events)).toMatchObject({ ok: true });
    expect(JSON.stringify(events)).not.toContain(token);
    await kernel.close();
    await place.close();
  };
  const { isAsking } = place;
  return { kernel, clock, tool, got, headers, isAsking, call: (input) => kernel.call(name, input), end };
}

const hostOf = ({ manifest }: ToolPackage): string => /^https?:\/\/([^/{]+)/.exec(manifest.http!.url)![1]!;

/** @param open a place whose services are this function */
export function serviceTests(subject: string, open: Open): void {
  const bench = (service: Service, answer: Send): Promise<Bench> => benchOf(service, answer, open);

  const named = services.map((each) => [each.tool("https://api.example.com").manifest.name, each] as const);
  describe.each(named)(`%s as a template, over ${subject}`, (_, service) => {
    it("sends what the template says, and gives what the reply says", async () => {
      const { call, got, headers, end } = await bench(service, service.answer);
      expect(await call(service.input)).toMatchObject({ ok: true, data: service.data });
      expect(got).toEqual([service.request]);
      expect(Object.fromEntries(headers[0]!)).toMatchObject(service.headers ?? {});
      await end();
    });

    it("sends nothing for an input that is not valid", async () => {
      const { call, got, end } = await bench(service, service.answer);
      expect(await call(service.invalid)).toMatchObject({ error: { code: "INVALID_INPUT" } });
      expect(got).toEqual([]);
      await end();
    });

    it("gives the error that the template names", async () => {
      const arrived = Promise.withResolvers<void>();
      const { call, tool, clock, isAsking, end } = await bench(service, () => (arrived.resolve(), service.failure()));
      const [name, message] = service.error;
      const result = await passUntil(clock, arrived.promise, call(service.input), isAsking);
      expect(result).toMatchObject({
        ok: false,
        error:
          name === "INVALID_OUTPUT"
            ? { code: name }
            : { code: "TOOL_ERROR", message: message.replace("HOST", hostOf(tool)), details: { name } },
      });
      await end();
    });

    it("ends at its deadline where the server never answers", async () => {
      const arrived = Promise.withResolvers<void>();
      const { call, clock, end } = await bench(service, () => {
        arrived.resolve();
        return new Promise(() => {});
      });
      const result = await passUntil(clock, arrived.promise, call(service.input));
      expect(result).toMatchObject({ error: { code: "TIMEOUT" } });
      await end();
    });

    it("ends at its bound where the reply has no end", async () => {
      const { call, end } = await bench(service, () => endless(service.answer()));
      expect(await call(service.input)).toMatchObject({
        error: { code: "BOUNDS_EXCEEDED", message: expect.stringContaining("65536") as string },
      });
      await end();
    });
  });

  it(`has twelve services over ${subject}`, () => {
    expect(services).toHaveLength(12);
  });
}

/** The same reply with a body that goes on. */
function endless({ headers }: Response): Response {
  const piece = new TextEncoder().encode(`[${'"more",'.repeat(1_000)}`);
  return new Response(new ReadableStream({ pull: (controller) => controller.enqueue(piece) }), { headers });
}
