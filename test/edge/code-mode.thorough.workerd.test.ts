import { edgeHost, IsolateRegistry } from "@keyhole/edge";
import { expect, it } from "vitest";
import { codeModeFigures } from "../bench/code-mode/ratio.ts";
import { bindings } from "./bindings.ts";

it("code mode at the edge makes 100 calls from one program; the report has the time beside the same calls one by one", async ({
  annotate,
}) => {
  const makeHost = async () => edgeHost({ loader: new IsolateRegistry(bindings.LOADER), preempts: false });
  const { oneByOneMs, programMs } = await codeModeFigures(makeHost);
  const ratio = (programMs / oneByOneMs).toFixed(2);
  await annotate(`${programMs.toFixed(1)} ms from one program, ${ratio} × ${oneByOneMs.toFixed(1)} ms one by one`);
  expect([oneByOneMs, programMs].every((ms) => ms > 0)).toBe(true);
});
