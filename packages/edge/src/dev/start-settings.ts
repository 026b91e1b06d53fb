import { randomBytes } from "node:crypto";
import { createServer } from "node:net";

/** Whether nothing listens at a port of the loopback address. */
export function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}

/**
 * The token of `KEYHOLE_TOKEN`, else a new one. Takes the variable away: the processes that an edge starts do not need it, and every program of this user can read their
 * environment.
 *
 * @throws {Error} for a text that no bearer token is
 */
export function chosenToken(): string {
  const chosen = process.env["KEYHOLE_TOKEN"];
  delete process.env["KEYHOLE_TOKEN"];
  if (!chosen) return randomBytes(24).toString("base64url");
  if (/^[A-Za-z0-9._~+/-]{1,512}=*$/.test(chosen)) return chosen;
  throw new Error("KEYHOLE_TOKEN has characters that a bearer token cannot have (RFC 6750, 2.1).");
}
