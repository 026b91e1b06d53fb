import type { ReactNode } from "react";
import { isOfPage } from "../client/edge-address.ts";
import { loadEdgeSettings } from "../client/edge-settings.ts";
import { CopyButton } from "../ui/CopyButton.tsx";
import { Text } from "../ui/Json.tsx";
import type { ActiveRun } from "./run-state.ts";
import { snippetsOf } from "./snippets.ts";

/** Where `npm start` has its edge. */
const usualAddress = "http://127.0.0.1:8701";

/** The same call from a program, from a shell and from an MCP client. */
export function CopyAs({ run }: { readonly run: ActiveRun }): ReactNode {
  const address = loadEdgeSettings()?.address;
  // A kernel of a page has no address that curl knows.
  const known = address === undefined || isOfPage(address) ? usualAddress : address;
  const snippets = snippetsOf(run.tool, run.input, known);
  return (
    <div className="copy-as">
      {snippets.map(({ id, title, text }) => (
        <section key={id} aria-label={`The call as ${title}`}>
          <header className="line">
            <h3>{title}</h3>
            <CopyButton text={text} what={`the call as ${title}`} />
          </header>
          <Text text={text} label={`${title} of the call`} />
        </section>
      ))}
      <p className="hint">
        For curl, set <code>TOKEN</code> to a token of the edge.
      </p>
    </div>
  );
}
