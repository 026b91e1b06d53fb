import type { PackageOf, ToolPackage } from "@keyhole/kernel";
import type calculatorTool from "./calculator.ts";
import calculatorPackage from "keyhole:./calculator.ts";
import type deleteFileTool from "./delete-file.ts";
import deleteFilePackage from "keyhole:./delete-file.ts";
import type echoTool from "./echo.ts";
import echoPackage from "keyhole:./echo.ts";
import type fetchUrlTool from "./fetch-url.ts";
import fetchUrlPackage from "keyhole:./fetch-url.ts";
import type hashTool from "./hash.ts";
import hashPackage from "keyhole:./hash.ts";
import type httpFetchTool from "./http-fetch.ts";
import httpFetchPackage from "keyhole:./http-fetch.ts";
import type kvGetTool from "./kv-get.ts";
import kvGetPackage from "keyhole:./kv-get.ts";
import type kvPutTool from "./kv-put.ts";
import kvPutPackage from "keyhole:./kv-put.ts";
import type listDirectoryTool from "./list-directory.ts";
import listDirectoryPackage from "keyhole:./list-directory.ts";
import type readFileTool from "./read-file.ts";
import readFilePackage from "keyhole:./read-file.ts";
import type runCodeTool from "./run-code.ts";
import runCodePackage from "keyhole:./run-code.ts";
import type sqlQueryTool from "./sql-query.ts";
import sqlQueryPackage from "keyhole:./sql-query.ts";
import type writeFileTool from "./write-file.ts";
import writeFilePackage from "keyhole:./write-file.ts";

export { webSearchAt } from "./web-search-at.ts";

export const calculator: PackageOf<typeof calculatorTool> = calculatorPackage as PackageOf<typeof calculatorTool>;
export const deleteFile: PackageOf<typeof deleteFileTool> = deleteFilePackage as PackageOf<typeof deleteFileTool>;
export const echo: PackageOf<typeof echoTool> = echoPackage as PackageOf<typeof echoTool>;
export const hash: PackageOf<typeof hashTool> = hashPackage as PackageOf<typeof hashTool>;
export const httpFetch: PackageOf<typeof httpFetchTool> = httpFetchPackage as PackageOf<typeof httpFetchTool>;
export const listDirectory: PackageOf<typeof listDirectoryTool> = listDirectoryPackage as PackageOf<
  typeof listDirectoryTool
>;
export const readFile: PackageOf<typeof readFileTool> = readFilePackage as PackageOf<typeof readFileTool>;
/** Code mode. Not among {@link builtinTools}: who wants programs to call tools says so. */
export const runCode: PackageOf<typeof runCodeTool> = runCodePackage as PackageOf<typeof runCodeTool>;
export const writeFile: PackageOf<typeof writeFileTool> = writeFilePackage as PackageOf<typeof writeFileTool>;

export const fetchUrl: PackageOf<typeof fetchUrlTool> = fetchUrlPackage as PackageOf<typeof fetchUrlTool>;
export const kvGet: PackageOf<typeof kvGetTool> = kvGetPackage as PackageOf<typeof kvGetTool>;
export const kvPut: PackageOf<typeof kvPutTool> = kvPutPackage as PackageOf<typeof kvPutTool>;
export const sqlQuery: PackageOf<typeof sqlQueryTool> = sqlQueryPackage as PackageOf<typeof sqlQueryTool>;

/** Every tool of this package that needs no setting, sorted by name. */
export const builtinTools: readonly ToolPackage[] = [
  calculator,
  deleteFile,
  echo,
  fetchUrl,
  hash,
  httpFetch,
  kvGet,
  kvPut,
  listDirectory,
  readFile,
  sqlQuery,
  writeFile,
];
