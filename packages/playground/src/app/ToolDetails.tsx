import { type ToolSummary, visible } from "@keyhole/kernel";
import { isPackageHash } from "@keyhole/worker-host/edge-protocol";
import type { ReactNode } from "react";
import { CopyButton } from "../ui/CopyButton.tsx";
import { bytesText, durationText } from "./words.ts";
import { capabilityText, determinismTexts, effectText } from "./capability-words.ts";

/** All that a tool's author declares, and the digest of the package. */
export function ToolDetails({ tool }: { readonly tool: ToolSummary }): ReactNode {
  const { capabilities, bounds, body, output, determinism, effects, source } = tool.manifest;
  return (
    <dl className="facts tool-facts">
      <dt>Effects</dt>
      <dd>
        {effects.length === 0 ? "None: it touches nothing" : effects.map((effect) => effectText(effect)).join(", ")}
      </dd>
      <dt>Determinism</dt>
      <dd>{determinismTexts[determinism]}</dd>
      <dt>Asks for</dt>
      <dd>
        {capabilities.length === 0
          ? "No capability"
          : visible(capabilities.map((each) => capabilityText(each)).join("; "))}
      </dd>
      <dt>Runs</dt>
      <dd>{source === "module" ? "In an isolate of its own" : "In the kernel's own realm (trusted)"}</dd>
      {body !== undefined && (
        <>
          <dt>Takes</dt>
          <dd>
            {visible(body.mediaType ?? "Bytes")}
            {bounds.bodyBytes !== undefined && `, at most ${bytesText(bounds.bodyBytes)}`}
          </dd>
        </>
      )}
      <dt>Gives</dt>
      <dd>{visible(output.mediaType ?? output.kind)}</dd>
      {bounds.timeoutMs !== undefined && (
        <>
          <dt>Time</dt>
          <dd>At most {durationText(bounds.timeoutMs)}</dd>
        </>
      )}
      {bounds.outputBytes !== undefined && (
        <>
          <dt>Output</dt>
          <dd>At most {bytesText(bounds.outputBytes)}</dd>
        </>
      )}
      <dt>Package</dt>
      <dd className="hash">
        <code>{visible(tool.hash)}</code>
        <CopyButton text={tool.hash} what="the package hash" />
        {!isPackageHash(tool) && <span className="cut">This is not the hash of the manifest.</span>}
      </dd>
    </dl>
  );
}
