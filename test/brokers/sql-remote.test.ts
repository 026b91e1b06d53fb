import { expect, it } from "vitest";
import type { SqlAnswer } from "../../packages/worker-host/src/brokers/sql/database.ts";
import { type Engine, type EngineEvents, remoteDatabase } from "../../packages/worker-host/src/brokers/sql/remote.ts";

const statement = { sql: "SELECT 1", params: [], kinds: ["select"] } as const;
const limits = { rows: 1, bytes: 100, timeMs: 1_000 };
const { signal } = new AbortController();
const answer: SqlAnswer = { ok: true, value: { columns: ["1"], rows: [[1]] } };

/** Works, or breaks in one way, as long as it is told to. */
function database(ways: ((events: EngineEvents) => Engine)[]) {
  const works = ({ message }: EngineEvents): Engine => {
    queueMicrotask(() => message("ready"));
    return { send: () => queueMicrotask(() => message(answer)), end: () => {} };
  };
  return remoteDatabase((events) => (ways.shift() ?? works)(events), { graceMs: 0, endsWithCall: true });
}

const query = (db: ReturnType<typeof database>) => db.query(statement, limits, signal);
const broken = { ok: false, fault: { reason: "broken" } };

it.each<[string, (events: EngineEvents) => Engine]>([
  [
    "cannot be started",
    () => {
      throw new Error("no more processes");
    },
  ],
  [
    "takes no task",
    ({ message }) => {
      queueMicrotask(() => message("ready"));
      return {
        send: () => {
          throw new Error("it cannot be cloned");
        },
        end: () => {},
      };
    },
  ],
  [
    "ends while it is started",
    ({ ended }) => {
      ended();
      return { send: () => {}, end: () => {} };
    },
  ],
])("a database whose engine %s says so, and the statements behind it get another one", async (_, way) => {
  const db = database([way, way]);
  const all = await Promise.all([query(db), query(db), query(db)]);
  expect(all.slice(0, 2)).toMatchObject([broken, broken]);
  expect(all[2]).toEqual(answer);
  expect(await query(db)).toEqual(answer);
});

it("a statement whose call ends while it waits for its turn never reaches the engine", async () => {
  const sent: string[] = [];
  let say: EngineEvents["message"] = () => {};
  const db = database([
    ({ message }) => {
      say = message;
      queueMicrotask(() => message("ready"));
      return { send: ({ statement: { sql } }) => sent.push(sql), end: () => {} };
    },
  ]);
  const ask = (sql: string, until: AbortSignal = signal) => db.query({ ...statement, sql }, limits, until);
  const call = new AbortController();
  const first = ask("first");
  const second = ask("second", call.signal);
  const third = ask("third");
  await expect.poll(() => sent).toEqual(["first"]);
  call.abort();
  expect(await second).toMatchObject({ ok: false, fault: { reason: "cancelled" } });
  say(answer);
  expect(await first).toEqual(answer);
  await expect.poll(() => sent.length).toBe(2);
  expect(sent).toEqual(["first", "third"]);
  say(answer);
  expect(await third).toEqual(answer);
});
