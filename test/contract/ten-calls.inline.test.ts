import calculator from "../../packages/worker-host/src/tools/calculator.ts";
import echo from "../../packages/worker-host/src/tools/echo.ts";
import hash from "../../packages/worker-host/src/tools/hash.ts";
import httpFetch from "../../packages/worker-host/src/tools/http-fetch.ts";
import readFile from "../../packages/worker-host/src/tools/read-file.ts";
import writeFile from "../../packages/worker-host/src/tools/write-file.ts";
import { describeTenCalls } from "./ten-calls.ts";
import ramp from "./tools/bytes.ts";
import spell from "./tools/text.ts";

describeTenCalls("inline", [calculator, echo, hash, httpFetch, readFile, writeFile, ramp, spell]);
