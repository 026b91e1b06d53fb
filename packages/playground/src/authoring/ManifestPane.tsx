import { type ToolPackage, visible } from "@keyhole/kernel";
import type { ReactNode } from "react";
import { capabilityText } from "../app/capability-words.ts";
import { bytesText, durationText, tierText } from "../app/words.ts";
import { CopyButton } from "../ui/CopyButton.tsx";
import { Fact } from "../ui/Fact.tsx";
import { Loading, Notice } from "../ui/Notice.tsx";
import { shortHash } from "../ui/short-hash.ts";
import type { PackAnswer } from "./pack.ts";
import type { Use } from "./uses.ts";

interface ManifestPaneProps {
  readonly pkg: ToolPackage | undefined;
  readonly packed: PackAnswer | undefined;
  readonly isPacking: boolean;
  readonly missing: readonly Use[];
}

/** The package's manifest, read in an isolate, beside the access that its source uses. */
export function ManifestPane({ pkg, packed, isPacking, missing }: ManifestPaneProps): ReactNode {
  return (
    <aside className="pane build-manifest" aria-label="Manifest">
      <h2>Manifest</h2>
      {isPacking && <Loading>Packing…</Loading>}
      {packed?.ok === false && (
        <Notice tone="bad" title="It cannot be packed">
          <p>{visible(packed.reason)}</p>
        </Notice>
      )}
      {pkg !== undefined && <Facts pkg={pkg} tookMs={packed?.tookMs ?? 0} />}
      {missing.length > 0 && (
        <Notice tone="warn" title="Uses what it does not declare">
          <ul>
            {missing.map(({ called, kinds, from }) => (
              <li key={from}>
                <code>{visible(called)}</code> needs {kinds.join(" or ")}
              </li>
            ))}
          </ul>
        </Notice>
      )}
    </aside>
  );
}

function Facts({ pkg, tookMs }: { readonly pkg: ToolPackage; readonly tookMs: number }): ReactNode {
  const { manifest, code, hash } = pkg;
  const { name, version, tier, effects, determinism, output, capabilities } = manifest;
  return (
    <>
      <dl className="facts">
        <Fact name="Name">
          <code>{visible(name)}</code>
        </Fact>
        <Fact name="Version">{visible(version)}</Fact>
        <Fact name="Tier">{tierText(tier)}</Fact>
        <Fact name="Effects">{effects.length === 0 ? "none" : visible(effects.join(", "))}</Fact>
        <Fact name="Determinism">{determinism}</Fact>
        <Fact name="Output">{output.kind}</Fact>
        <dt>Package</dt>
        <dd className="hash">
          <code title={hash}>{shortHash(hash)}</code>
          <CopyButton text={hash} what="the package hash" />
        </dd>
        <Fact name="Packed">
          {bytesText(code.length)} in {durationText(tookMs)}
        </Fact>
      </dl>
      <h3>What it asks for</h3>
      {capabilities.length === 0 ? (
        <p className="hint">Nothing: it reaches nothing outside.</p>
      ) : (
        <ul className="wrap">
          {capabilities.map((each, index) => (
            <li key={index}>{capabilityText(each)}</li>
          ))}
        </ul>
      )}
      <p className="hint">A declaration grants nothing. The policy does.</p>
    </>
  );
}
