/**
 * Which addresses are not ordinary hosts of the public internet: the IANA special-purpose registries (RFC 6890 and its updates), multicast, what
 * is reserved, and every form in which an IPv6 address carries an IPv4 address. Addresses come in the one form that `URL` gives them.
 */

interface Range {
  readonly start: readonly number[];
  readonly bits: number;
  readonly use: string;
}

/** Reads four numbers of 8 bits. `undefined` for a name. */
function parseV4(host: string): readonly number[] | undefined {
  return /^\d{1,3}(\.\d{1,3}){3}$/.test(host) ? host.split(".").map(Number) : undefined;
}

/** Reads eight numbers of 16 bits from `[…]`. `undefined` for a name. */
function parseV6(host: string): readonly number[] | undefined {
  if (!host.startsWith("[") || !host.endsWith("]")) return undefined;
  const [head = "", tail] = host.slice(1, -1).split("::");
  const groups = (text: string): number[] =>
    text === "" ? [] : text.split(":").map((group) => Number.parseInt(group, 16));
  const before = groups(head);
  if (tail === undefined) return before;
  const after = groups(tail);
  return [...before, ...Array<number>(8 - before.length - after.length).fill(0), ...after];
}

function v4(cidr: string, use: string): Range {
  const [address = "", bits] = cidr.split("/");
  return { start: parseV4(address)!, bits: Number(bits), use };
}

function v6(cidr: string, use: string): Range {
  const [address, bits] = cidr.split("/");
  return { start: parseV6(`[${address}]`)!, bits: Number(bits), use };
}

const v4Ranges: readonly Range[] = [
  v4("0.0.0.0/8", "this host on this network"),
  v4("10.0.0.0/8", "a private network"),
  v4("100.64.0.0/10", "shared address space of carriers"),
  v4("127.0.0.0/8", "loopback"),
  v4("168.63.129.16/32", "Azure's own services for its machines"),
  v4("169.254.0.0/16", "link-local, where clouds serve instance metadata"),
  v4("172.16.0.0/12", "a private network"),
  v4("192.0.0.0/24", "IETF protocol assignments"),
  v4("192.0.2.0/24", "documentation"),
  v4("192.31.196.0/24", "AS112"),
  v4("192.52.193.0/24", "multicast tunnelling"),
  v4("192.88.99.0/24", "6to4 relays"),
  v4("192.168.0.0/16", "a private network"),
  v4("192.175.48.0/24", "AS112"),
  v4("198.18.0.0/15", "benchmarking"),
  v4("198.51.100.0/24", "documentation"),
  v4("203.0.113.0/24", "documentation"),
  v4("224.0.0.0/4", "multicast"),
  v4("240.0.0.0/4", "reserved"),
];

/** The first that contains an address names it. */
const v6Ranges: readonly Range[] = [
  v6("::/128", "the unspecified address"),
  v6("::1/128", "loopback"),
  v6("::ffff:0:0/96", "an IPv4-mapped address"),
  v6("::/96", "an IPv4-compatible address"),
  v6("64:ff9b::/96", "an IPv4 address behind NAT64"),
  v6("64:ff9b:1::/48", "an IPv4 address behind local NAT64"),
  v6("100::/64", "discard-only"),
  v6("100:0:0:1::/64", "a dummy prefix"),
  v6("2001::/32", "Teredo, which carries an IPv4 address"),
  v6("2001::/23", "IETF protocol assignments"),
  v6("2001:db8::/32", "documentation"),
  v6("2002::/16", "6to4, which carries an IPv4 address"),
  v6("2620:4f:8000::/48", "AS112"),
  v6("3fff::/20", "documentation"),
  v6("fc00::/7", "a unique local address"),
  v6("fe80::/10", "link-local"),
  v6("fec0::/10", "site-local"),
  v6("ff00::/8", "multicast"),
];

const globalUnicast = v6("2000::/3", "");

function contains(range: Range, address: readonly number[], wordBits: number): boolean {
  for (let word = 0, left = range.bits; left > 0; word++, left -= wordBits) {
    const drop = Math.max(wordBits - left, 0);
    if (range.start[word]! >> drop !== address[word]! >> drop) return false;
  }
  return true;
}

/** An IP address in its canonical form, and its special purpose if it has one. `undefined` for a name. */
export function classifyAddress(host: string): { readonly special: string | undefined } | undefined {
  const four = parseV4(host);
  if (four) return { special: v4Ranges.find((range) => contains(range, four, 8))?.use };
  const six = parseV6(host);
  if (!six) return undefined;
  const special = v6Ranges.find((range) => contains(range, six, 16))?.use;
  return { special: special ?? (contains(globalUnicast, six, 16) ? undefined : "not assigned") };
}
