import { type ReactElement, useState, useSyncExternalStore } from "react";
import { openQuestions, watchQuestions } from "./approvals.ts";
import { kernel, saveLog } from "./kernel.ts";

const examples: Readonly<Record<string, object>> = {
  word_count: { text: "Water the plants." },
  save_note: { path: "notes/todo.txt", text: "Water the plants." },
};

export function App(): ReactElement {
  const [tool, setTool] = useState("word_count");
  const [input, setInput] = useState(JSON.stringify(examples["word_count"]));
  const [said, setSaid] = useState("");
  const questions = useSyncExternalStore(watchQuestions, openQuestions);

  const call = async (): Promise<void> => {
    setSaid("…");
    try {
      const result = await (await kernel).call(tool, JSON.parse(input), { caller: "agent" });
      setSaid(JSON.stringify(result.ok ? result.data : result.error, undefined, 2));
    } catch (error) {
      setSaid(String(error));
    }
  };
  const choose = (name: string): void => {
    setTool(name);
    setInput(JSON.stringify(examples[name]));
  };

  return (
    <main>
      <h1>Tools under a policy</h1>
      <label>
        Tool{" "}
        <select value={tool} onChange={({ target }) => choose(target.value)}>
          {Object.keys(examples).map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </label>
      <p>
        <label>
          Input <textarea cols={60} value={input} onChange={({ target }) => setInput(target.value)} />
        </label>
      </p>
      <button onClick={() => void call()}>Call</button> <button onClick={() => void saveLog()}>Save log</button>
      {questions.map(({ id, tool: asking, reason, input: asked, grants, isReady, answer }) => (
        <section key={id} role="alertdialog" aria-label={`${asking} asks`}>
          {/* In the order of its characters: letters of Hebrew or Arabic would turn digits and signs between them around. */}
          <p>
            <bdo dir="ltr">
              {asking} asks: {reason}
            </bdo>
          </p>
          <pre>
            <bdo dir="ltr">{asked}</bdo>
          </pre>
          <p>
            <bdo dir="ltr">{grants.join(", ")}</bdo>
          </p>
          <button disabled={!isReady} onClick={() => answer("allow")}>
            Allow once
          </button>{" "}
          <button disabled={!isReady} onClick={() => answer("deny")}>
            Deny
          </button>
        </section>
      ))}
      <pre aria-live="polite" id="result">
        {said}
      </pre>
    </main>
  );
}
