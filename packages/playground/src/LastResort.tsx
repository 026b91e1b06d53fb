import { Component, type ReactNode } from "react";
import { saved } from "./client/saved.ts";
import { sessionName } from "./session/names.ts";
import { reasonOf } from "./ui/ErrorBoundary.tsx";
import { visible } from "@keyhole/kernel";

interface LastResortState {
  readonly reason: string | undefined;
}

/** Stands for the whole page when it can show nothing else. It uses no other part of the page that could fail, too. */
export class LastResort extends Component<{ readonly children: ReactNode }, LastResortState> {
  override state: LastResortState = { reason: undefined };

  static getDerivedStateFromError(error: unknown): LastResortState {
    return { reason: visible(reasonOf(error)) };
  }

  override render(): ReactNode {
    const { reason } = this.state;
    if (reason === undefined) return this.props.children;
    return (
      <main className="waiting">
        <div className="stack-l wrap last-resort" role="alert">
          <h1>The playground has stopped</h1>
          <p>A fault of the page ended it. A call that was running may have had its effects.</p>
          <p className="mono">{reason}</p>
          <p>
            <button type="button" className="button" data-look="primary" onClick={() => location.reload()}>
              Reload the page
            </button>
          </p>
          <p>
            If it happens again, a saved value may be the cause. The next button deletes the saved policy, addresses,
            colours and calls.
          </p>
          <p>
            <button type="button" className="button" data-look="danger" onClick={startAnew}>
              Delete saved values and reload
            </button>
          </p>
        </div>
      </main>
    );
  }
}

function startAnew(): void {
  saved.clear();
  // The reload ends what would keep the database.
  indexedDB.deleteDatabase(sessionName);
  location.reload();
}
