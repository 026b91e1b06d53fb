import { afterAll, beforeAll, it } from "vitest";
import { expectNoneLeft } from "./edge-descriptors.ts";
import { type OwnEdge, startOwnEdge } from "./own-edge.ts";

let own: OwnEdge;
beforeAll(async () => void (own = await startOwnEdge()));
afterAll(() => own?.edge.stop());

it("holds no descriptor of a call that has ended", () => expectNoneLeft(own, 40));
