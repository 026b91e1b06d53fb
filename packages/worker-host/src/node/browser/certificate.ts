import { createHash, generateKeyPairSync, randomBytes, sign } from "node:crypto";

/** The proxy's certificate for a browser that accepts this key alone. */
export interface PageCertificate {
  readonly key: string;
  readonly cert: string;
  /** SHA-256 of the public key, base64. */
  readonly keyHash: string;
}

const dayMs = 86_400_000;

/** A certificate of an own key (RFC 5280). The browser knows it by its key, so names and issuer say nothing. */
export function pageCertificate(): PageCertificate {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const publicDer = publicKey.export({ type: "spki", format: "der" });
  const algorithm = der(0x30, Buffer.from("06082a8648ce3d040302", "hex")); // ecdsa-with-SHA256
  const name = der(0x30, der(0x31, der(0x30, Buffer.from("0603550403", "hex"), der(0x0c, Buffer.from("keyhole")))));
  const now = Date.now();
  const signed = der(
    0x30,
    der(0xa0, der(0x02, Buffer.from([2]))), // version 3
    der(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    algorithm,
    name,
    der(0x30, utcTime(now - dayMs), utcTime(now + dayMs)),
    name,
    publicDer,
  );
  const signature = sign("sha256", signed, privateKey);
  const whole = der(0x30, signed, algorithm, der(0x03, Buffer.from([0]), signature));
  return {
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${whole.toString("base64")}\n-----END CERTIFICATE-----\n`,
    keyHash: createHash("sha256").update(publicDer).digest("base64"),
  };
}

/** One value in DER (X.690): tag, length, content of at most 65,535 bytes. */
function der(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  const size = content.byteLength;
  const length = size < 128 ? [size] : size < 256 ? [0x81, size] : [0x82, size >> 8, size & 255];
  return Buffer.concat([Buffer.from([tag, ...length]), content]);
}

function utcTime(atMs: number): Buffer {
  const digits = new Date(atMs)
    .toISOString()
    .replace(/\.\d+Z$/, "Z")
    .replace(/[-:T]/g, "")
    .slice(2);
  return der(0x17, Buffer.from(digits));
}
