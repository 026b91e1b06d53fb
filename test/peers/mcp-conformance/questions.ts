import { defineTool, type Tool } from "@keyhole/kernel";
import type { McpAnswers, McpQuestion } from "@keyhole/mcp";
import { acceptedContent, type InputRequests, inputRequired } from "@modelcontextprotocol/server";

/** Tools of the suite that ask their client first. */
interface Asking extends McpQuestion {
  readonly name: string;
  readonly properties?: Readonly<Record<string, object>>;
  readonly result: (answers: McpAnswers) => string;
}

const text = { type: "string" };
const boolean = { type: "boolean" };
const prefix = "test_input_required_result_";

type Properties = Readonly<Record<string, object>>;

function form(message: string, properties: Properties, required: readonly string[] = Object.keys(properties)) {
  const requestedSchema = { type: "object", properties, required: [...required] };
  return inputRequired.elicit({ message, requestedSchema } as unknown as Parameters<typeof inputRequired.elicit>[0]);
}

function say(words: string, maxTokens = 100) {
  return inputRequired.createMessage({
    messages: [{ role: "user", content: { type: "text", text: words } }],
    maxTokens,
  });
}

const field = (answers: McpAnswers, key: string, name: string): unknown => acceptedContent({ ...answers }, key)?.[name];
const titled = (...titles: readonly string[]) => titles.map((title, at) => ({ const: `value${at + 1}`, title }));

/** Asks for everything under these names that has no answer yet. */
function once(requests: InputRequests): McpQuestion["missing"] {
  return (answers) => (Object.keys(requests).every((key) => Object.hasOwn(answers, key)) ? undefined : requests);
}

const confirm = { confirm: form("Please confirm", { ok: boolean }) };

const inputs: readonly Asking[] = [
  {
    name: `${prefix}elicitation`,
    missing: (answers) =>
      typeof field(answers, "user_name", "name") === "string"
        ? undefined
        : { user_name: form("What is your name?", { name: text }) },
    result: (answers) => `Hello, ${String(field(answers, "user_name", "name"))}!`,
  },
  {
    name: `${prefix}sampling`,
    missing: once({ capital_question: say("What is the capital of France?") }),
    result: ({ capital_question }) => JSON.stringify(capital_question),
  },
  {
    name: `${prefix}list_roots`,
    missing: once({ client_roots: inputRequired.listRoots() }),
    result: ({ client_roots }) => JSON.stringify(client_roots),
  },
  ...["request_state", "tampered_state"].map((name) => ({
    name: prefix + name,
    missing: (answers: McpAnswers) => (acceptedContent({ ...answers }, "confirm") ? undefined : confirm),
    result: () => "state-ok",
  })),
  {
    name: `${prefix}multiple_inputs`,
    missing: once({
      user_name: form("What is your name?", { name: text }),
      greeting: say("Generate a greeting", 50),
      client_roots: inputRequired.listRoots(),
    }),
    result: (answers) => JSON.stringify(answers),
  },
  {
    name: `${prefix}multi_round`,
    missing(answers) {
      if (!answers["step1"]) return { step1: form("Step 1: name?", { name: text }) };
      return answers["step2"] ? undefined : { step2: form("Step 2: color?", { color: text }) };
    },
    result: (answers) => `${String(field(answers, "step1", "name"))} likes ${String(field(answers, "step2", "color"))}`,
  },
  {
    name: `${prefix}capabilities`,
    missing(answers, _, { elicitation, sampling, roots }) {
      const all = {
        ...(elicitation && { user_name: form("Name?", { name: text }) }),
        ...(sampling && { greeting: say("Greet", 50) }),
        ...(roots && { client_roots: inputRequired.listRoots() }),
      };
      return Object.keys(answers).length > 0 || Object.keys(all).length === 0 ? undefined : all;
    },
    result: () => "done",
  },
  { name: "test_missing_capability", missing: once({ answer: say("ping", 16) }), result: () => "done" },
];

/** In the older era the SDK makes requests of the server of these. */
const requests: readonly Asking[] = [
  {
    name: "test_sampling",
    properties: { prompt: text },
    missing: (answers, { prompt }) => (answers["answer"] ? undefined : { answer: say(String(prompt)) }),
    result: ({ answer }) => `LLM response: ${JSON.stringify(answer)}`,
  },
  {
    name: "test_elicitation",
    properties: { message: text },
    missing: (answers, { message }) =>
      answers["answer"]
        ? undefined
        : { answer: form(String(message), { response: { ...text, description: "User's response" } }) },
    result: ({ answer }) => `User response: ${JSON.stringify(answer)}`,
  },
  {
    name: "test_elicitation_sep1034_defaults",
    missing: once({
      answer: form(
        "Please review",
        {
          name: { ...text, default: "John Doe" },
          age: { type: "integer", default: 30 },
          score: { type: "number", default: 95.5 },
          status: { ...text, enum: ["active", "inactive", "pending"], default: "active" },
          verified: { ...boolean, default: true },
        },
        [],
      ),
    }),
    result: ({ answer }) => `Elicitation completed: ${JSON.stringify(answer)}`,
  },
  {
    name: "test_elicitation_sep1330_enums",
    missing: once({
      answer: form(
        "Please select",
        {
          untitledSingle: { ...text, enum: ["option1", "option2", "option3"] },
          titledSingle: { ...text, oneOf: titled("First", "Second", "Third") },
          legacyEnum: { ...text, enum: ["opt1", "opt2", "opt3"], enumNames: ["One", "Two", "Three"] },
          untitledMulti: { type: "array", items: { ...text, enum: ["option1", "option2", "option3"] } },
          titledMulti: { type: "array", items: { anyOf: titled("First", "Second", "Third") } },
        },
        [],
      ),
    }),
    result: ({ answer }) => `Elicitation completed: ${JSON.stringify(answer)}`,
  },
];

const asking = [...inputs, ...requests];

export const questions: Readonly<Record<string, McpQuestion>> = Object.fromEntries(
  asking.map(({ name, missing }) => [name, { missing }]),
);

export const askingTools: readonly Tool<never, unknown>[] = asking.map(({ name, properties = {}, result }) =>
  defineTool({
    name,
    version: "1.0.0",
    description: "Asks its client before it runs.",
    determinism: "external",
    input: {
      type: "object",
      properties: { ...properties, answers: { type: "object" } },
      required: Object.keys(properties),
    },
    output: { kind: "text" },
    execute: (input) => result((input as { readonly answers: McpAnswers }).answers),
  }),
) as unknown as readonly Tool<never, unknown>[];
