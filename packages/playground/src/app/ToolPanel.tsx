import { type ToolSummary, visible } from "@keyhole/kernel";
import type { ComponentProps, ReactNode, RefObject } from "react";
import { isPackageHash } from "@keyhole/worker-host/edge-protocol";
import { CallForm } from "../form/CallForm.tsx";
import { Badge } from "../ui/Badge.tsx";
import { IconButton } from "../ui/Button.tsx";
import { CopyButton } from "../ui/CopyButton.tsx";
import { Inline } from "../ui/Markdown.tsx";
import { bytesText, capabilityText, determinismTexts, durationText, effectText, tierText, tierTones } from "./words.ts";

interface ToolPanelProps extends ComponentProps<typeof CallForm> {
  readonly headingRef: RefObject<HTMLHeadingElement | null>;
  readonly onBack: () => void;
}

export function ToolPanel({ headingRef, onBack, ...call }: ToolPanelProps): ReactNode {
  const { tool } = call;
  return (
    <section className="tool" aria-labelledby="tool-name">
      <ToolHead tool={tool} headingRef={headingRef} onBack={onBack} />
      <CallForm key={tool.id} {...call} />
    </section>
  );
}

function ToolHead({ tool, headingRef, onBack }: Pick<ToolPanelProps, "tool" | "headingRef" | "onBack">): ReactNode {
  const { name, title, version, description, tier, effects, determinism } = tool.manifest;
  return (
    <header className="tool-head">
      <div className="tool-title">
        <span className="narrow-only">
          <IconButton icon="back" label="Back to the tools" onPress={onBack} />
        </span>
        <h2 id="tool-name" ref={headingRef} tabIndex={-1}>
          {name}
        </h2>
        <span className="muted mono">{visible(version)}</span>
      </div>
      {title !== undefined && <p className="tool-subtitle">{visible(title)}</p>}
      <p className="tool-description">
        <Inline text={description} />
      </p>
      <ul className="badges" aria-label="Facts">
        <li>
          <Badge tone={tierTones[tier]}>{tierText(tier)}</Badge>
        </li>
        {effects.map((effect) => (
          <li key={effect}>
            <Badge tone="accent">
              {effect}
              <span className="visually-hidden">: {effectText(effect)}</span>
            </Badge>
          </li>
        ))}
        <li>
          <Badge>
            {determinism}
            <span className="visually-hidden">: {determinismTexts[determinism]}</span>
          </Badge>
        </li>
      </ul>
      <Details tool={tool} />
    </header>
  );
}

function Details({ tool }: { readonly tool: ToolSummary }): ReactNode {
  const { capabilities, bounds, body, output, determinism, effects, source } = tool.manifest;
  return (
    <details className="details">
      <summary>Details</summary>
      <dl className="facts">
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
    </details>
  );
}
