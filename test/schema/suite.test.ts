import { describeSuite } from "./describe-suite.ts";

describeSuite("whole");
