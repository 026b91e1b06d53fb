import { type ToolPackage, visible } from "@keyhole/kernel";
import { type ReactNode, useRef, useState } from "react";
import { useAnnounce } from "../ui/announce.tsx";
import { Button } from "../ui/Button.tsx";
import { Notice } from "../ui/Notice.tsx";
import { saveFile } from "../ui/save.ts";
import { writeLink } from "./link.ts";
import type { Build } from "./useBuild.ts";

interface BuildHeadProps {
  readonly build: Build;
  readonly pkg: ToolPackage | undefined;
}

export function BuildHead({ build, pkg }: BuildHeadProps): ReactNode {
  const { source, isModule, isFromLink, openFault, accept, leaveModule } = build;
  const announce = useAnnounce();
  const [fault, setFault] = useState("");
  const share = async (): Promise<void> => {
    const text = await writeLink(source);
    if (text === undefined) return setFault("The source is too long for a link. Save it as a file.");
    setFault("");
    await navigator.clipboard.writeText(`${location.origin}${location.pathname}#/build/${text}`);
    announce("The link is copied");
  };
  return (
    <header className="bar under screen-head build-head">
      <h1>Build</h1>
      {isFromLink && (
        <>
          <span className="build-unrun">
            <b>Not run yet.</b> Opened from a link. Read it first.
          </span>
          <Button onPress={accept}>Pack and check it</Button>
        </>
      )}
      {isModule && <Button onPress={leaveModule}>Back to TypeScript</Button>}
      <span className="space" />
      <OpenButton onOpen={build.open} />
      {!isModule && (
        <Button onPress={() => void share().catch(() => setFault("The browser gives no access to the clipboard."))}>
          Copy a link
        </Button>
      )}
      <Button icon="download" onPress={() => saveFile(isModule ? "tool.json" : "tool.ts", source)}>
        {isModule ? "Manifest" : "Source"}
      </Button>
      <Button
        icon="download"
        isUnavailable={pkg === undefined}
        onPress={() => pkg && saveFile(`${pkg.manifest.name}.json`, `${JSON.stringify(pkg)}\n`)}
      >
        Package
      </Button>
      {openFault !== undefined && (
        <Notice tone="bad" title="It was not opened" urgent>
          <p>{visible(openFault)}</p>
        </Notice>
      )}
      {fault !== "" && (
        <p className="fault" role="alert">
          {fault}
        </p>
      )}
    </header>
  );
}

function OpenButton({ onOpen }: { readonly onOpen: (files: readonly File[]) => Promise<void> }): ReactNode {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <input
        ref={input}
        type="file"
        hidden
        multiple
        accept=".ts,.mts,.js,.mjs,.wasm,.json"
        onChange={({ currentTarget }) => {
          void onOpen([...(currentTarget.files ?? [])]);
          // A person may choose the same file again after a change.
          currentTarget.value = "";
        }}
      />
      <Button icon="upload" onPress={() => input.current?.click()}>
        Open
      </Button>
    </>
  );
}
