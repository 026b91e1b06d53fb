import { type ToolSummary, visible } from "@keyhole/kernel";
import { isPackageHash } from "@keyhole/worker-host/edge-protocol";
import type { ReactNode } from "react";
import { Fact, HashFact } from "../ui/Fact.tsx";
import { bytesText, durationText } from "./words.ts";
import { capabilityText, determinismTexts, effectText } from "./capability-words.ts";

/** All that a tool's author declares, and the digest of the package. */
export function ToolDetails({ tool }: { readonly tool: ToolSummary }): ReactNode {
  const { capabilities, bounds, body, output, determinism, effects, source } = tool.manifest;
  return (
    <dl className="facts tool-facts">
      <Fact name="Effects">
        {effects.length === 0 ? "None: it touches nothing" : effects.map((effect) => effectText(effect)).join(", ")}
      </Fact>
      <Fact name="Determinism">{determinismTexts[determinism]}</Fact>
      <Fact name="Asks for">
        {capabilities.length === 0
          ? "No capability"
          : visible(capabilities.map((each) => capabilityText(each)).join("; "))}
      </Fact>
      <Fact name="Runs">
        {source === "module" ? "In an isolate of its own" : "In the kernel's own realm (trusted)"}
      </Fact>
      {body !== undefined && (
        <Fact name="Takes">
          {visible(body.mediaType ?? "Bytes")}
          {bounds.bodyBytes !== undefined && `, at most ${bytesText(bounds.bodyBytes)}`}
        </Fact>
      )}
      <Fact name="Gives">{visible(output.mediaType ?? output.kind)}</Fact>
      {bounds.timeoutMs !== undefined && <Fact name="Time">At most {durationText(bounds.timeoutMs)}</Fact>}
      {bounds.outputBytes !== undefined && <Fact name="Output">At most {bytesText(bounds.outputBytes)}</Fact>}
      <HashFact name="Package" hash={tool.hash} what="the package hash">
        {!isPackageHash(tool) && <span className="cut">This is not the hash of the manifest.</span>}
      </HashFact>
    </dl>
  );
}
