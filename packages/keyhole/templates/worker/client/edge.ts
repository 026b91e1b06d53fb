import { connectEdge, type EdgeClient, EdgeFault, type EdgeOptions } from "@keyhole/worker-host/edge";

const { EDGE = "http://127.0.0.1:8787", TOKEN } = process.env;

/** The edge, as a kernel. */
export function edge(options: EdgeOptions = {}): EdgeClient {
  if (TOKEN) return connectEdge(EDGE, TOKEN, options);
  console.error("Set TOKEN to the token that `npm start` prints.");
  process.exit(1);
}

// What the person has to change is a line, and no trace.
process.on("uncaughtException", (error) => {
  console.error(error instanceof EdgeFault ? `${error.message} ${error.hint}` : error);
  process.exit(1);
});
