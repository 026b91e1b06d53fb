import { nodeHost } from "@keyhole/worker-host/node";
import { leakHash, tried } from "../realm/leaks.ts";

/** What a thread shows of a machine whose zone and locale are others. */
export default async function machine(): Promise<{
  readonly found: Awaited<ReturnType<typeof tried>>;
  readonly own: readonly string[];
}> {
  const { locale, timeZone } = new Intl.DateTimeFormat().resolvedOptions();
  const host = nodeHost({ trusted: [leakHash] });
  const found = await tried(host);
  await host.close();
  return { found, own: [locale, timeZone] };
}
