import { javascript, typescriptLanguage } from "@codemirror/lang-javascript";
import { json } from "@codemirror/lang-json";
import type { ToolPackage } from "@keyhole/kernel";
import { type ReactNode, useMemo } from "react";
import { CodeEditor } from "../code/CodeEditor.tsx";
import type { Note } from "../code/notes.ts";
import { fileDrop } from "../ui/file-drop.ts";
import "./authoring.css";
import { BuildHead } from "./BuildHead.tsx";
import type { BuildScreenProps } from "./props.ts";
import { notesOf } from "./source-notes.ts";
import { completeContext } from "./complete-context.ts";
import { ManifestPane } from "./ManifestPane.tsx";
import { TryPane } from "./TryPane.tsx";
import { useBuild } from "./useBuild.ts";
import { undeclared, type Use, usesIn } from "./uses.ts";

/** A tool of one's own: written, packed, and run at once in its isolate. */
export function BuildScreen(props: BuildScreenProps): ReactNode {
  const { client, link, onLinkTaken } = props;
  const build = useBuild(client, link, onLinkTaken);
  const { source, isModule, packed, change, open } = build;
  const pkg = packed?.ok === true ? packed.package : undefined;
  const missing = useMemo(() => (isModule ? noUses : missingOf(source, pkg)), [source, isModule, pkg]);
  const notes = useMemo<readonly Note[]>(
    () => notesOf(source, packed, missing, change),
    [source, packed, missing, change],
  );
  return (
    <main className="screen build-screen" aria-label="Build">
      <BuildHead build={build} pkg={pkg} />
      <ManifestPane pkg={pkg} packed={packed} isPacking={build.isPacking} missing={missing} />
      <section className="column build-source" aria-label="Source" {...fileDrop((files) => void open(files))}>
        <CodeEditor
          key={isModule ? "manifest" : "source"}
          label={isModule ? "Manifest of the module (JSON)" : "Source of the tool (TypeScript)"}
          text={source}
          onChange={change}
          extensions={isModule ? manifest : typescript}
          notes={notes}
        />
      </section>
      <TryPane {...props} build={build} />
    </main>
  );
}

const typescript = [javascript({ typescript: true }), typescriptLanguage.data.of({ autocomplete: completeContext })];
const manifest = [json()];
const noUses: readonly Use[] = [];

/** The access that the source uses and the package does not declare, as registration checks it. */
function missingOf(source: string, pkg: ToolPackage | undefined): readonly Use[] {
  return pkg === undefined ? noUses : undeclared(usesIn(source), pkg.manifest.capabilities);
}
