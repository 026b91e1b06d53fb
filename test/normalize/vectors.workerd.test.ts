import { describe } from "vitest";
import { describeVectors } from "./vectors.shared.ts";

describe("normal forms and hashes", describeVectors);
