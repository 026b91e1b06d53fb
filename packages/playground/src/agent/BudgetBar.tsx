import type { RunSpent } from "@keyhole/agents/agent-run";
import type { ReactNode } from "react";

export const budgetKinds = ["tokens", "fuel", "calls"] as const satisfies readonly (keyof RunSpent)[];

interface BudgetBarProps {
  readonly spent: RunSpent;
  readonly budget: RunSpent;
}

/** The part of each budget that the run has used. */
export function BudgetBar({ spent, budget }: BudgetBarProps): ReactNode {
  return (
    <dl className="small sunken under agent-budget" aria-label="Budget of the run">
      {budgetKinds.map((kind) => (
        <div key={kind} data-over={spent[kind] >= budget[kind] || undefined}>
          <dt>{kind}</dt>
          <dd className="num">
            <b>{short.format(spent[kind])}</b>
            <span className="agent-of"> of {short.format(budget[kind])}</span>
          </dd>
          <dd className="agent-meter">
            <svg width="100%" height="4" aria-hidden="true">
              <rect className="track" width="100%" height="4" />
              <rect className="used" width={`${Math.min(100, (100 * spent[kind]) / budget[kind])}%`} height="4" />
            </svg>
          </dd>
        </div>
      ))}
    </dl>
  );
}

const short = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });
