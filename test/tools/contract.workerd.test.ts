import { builtinToolsContract } from "../contract/builtin-tools.ts";

builtinToolsContract();
