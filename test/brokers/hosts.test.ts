import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { checkHostPattern, matchHost as matches } from "@keyhole/kernel";
import { checkHost } from "@keyhole/worker-host/brokers/net";

const publicHosts = [
  "example.com",
  "www.example.com",
  "a.b.c.d.example.co.uk",
  "xn--bcher-kva.net",
  "xn--80ak6aa92e.xn--p1ai",
  "ec2-52-95-245-1.compute-1.amazonaws.com",
  "_dmarc.example.com",
  "1.example.com",
  "1e100.net",
  "localhost.example.com",
  "internal.example.com",
  "mylocal.com",
  "10.example.org",
  "com.localhost.net",
];

const specialHosts = [
  "kubernetes.default.svc",
  "kubernetes.default.svc.cluster",
  "a.lxd",
  "a.dns.podman",
  "web.service.nomad",
  "api.k8s",
  "vault.service.consul",
  "laptop.tail1234.ts.net",
  "127.0.0.1.nip.io",
  "app.localtest.me",
  "7f000001.c0a80001.rbndr.us",
  "127.0.0.1.example.com",
  "app-10-0-0-5.example.com",
  "169-254-169-254.example.org",
  "account.privatelink.example.com",
  "metadata.goog",
  "router.asus.com",
  "www.tplinklogin.net",
  "easy.box",
  "localh.st",
  "a.example",
  "localhost",
  "a.localhost",
  "printer.local",
  "metadata.google.internal",
  "router",
  "nas.lan",
  "x.home.arpa",
  "a.test",
  "b.invalid",
  "c.onion",
  "0.0.0.0",
  "0.255.255.255",
  "10.0.0.0",
  "10.255.255.255",
  "100.64.0.0",
  "100.127.255.255",
  "127.0.0.1",
  "127.255.255.255",
  "169.254.169.254",
  "168.63.129.16",
  "172.16.0.0",
  "172.31.255.255",
  "192.0.0.1",
  "192.0.2.1",
  "192.88.99.1",
  "192.168.0.1",
  "198.18.0.0",
  "198.19.255.255",
  "198.51.100.9",
  "203.0.113.1",
  "224.0.0.1",
  "239.255.255.255",
  "240.0.0.1",
  "255.255.255.255",
  "[::]",
  "[::1]",
  "[::ffff:7f00:1]",
  "[::ffff:808:808]",
  "[::7f00:1]",
  "[64:ff9b::7f00:1]",
  "[64:ff9b:1::a00:1]",
  "[100::1]",
  "[2001::1]",
  "[2001:0:a00:1::f5ff:fffe]",
  "[2001:db8::1]",
  "[2002:7f00:1::]",
  "[2002:a00:1::1]",
  "[3fff::1]",
  "[5f00::1]",
  "[fc00::1]",
  "[fd00:ec2::254]",
  "[fe80::1]",
  "[fec0::1]",
  "[ff02::1]",
  "[4000::1]",
  "",
  ".",
  "a..b",
  "example.com.",
  `${"a".repeat(64)}.com`,
  `${"a.".repeat(127)}com`,
];

/** The last before and the first after each block of the registry. */
const ordinaryAddresses = [
  "1.0.0.0",
  "9.255.255.255",
  "11.0.0.0",
  "100.63.255.255",
  "100.128.0.0",
  "126.255.255.255",
  "128.0.0.0",
  "169.253.255.255",
  "169.255.0.0",
  "172.15.255.255",
  "172.32.0.0",
  "192.0.1.0",
  "192.0.3.0",
  "192.167.255.255",
  "192.169.0.0",
  "198.17.255.255",
  "198.20.0.0",
  "223.255.255.255",
  "[2001:200::1]",
  "[2001:db7::1]",
  "[2001:db9::1]",
  "[2003::1]",
  "[2606:4700::1111]",
  "[3fff:1000::1]",
  "[2000::1]",
];

/** As a grant is read: the network's broker says which hosts are public. */
function matchHost(pattern: string, host: string): boolean {
  return matches(pattern, host, checkHost(host) === undefined);
}

describe("checkHost", () => {
  it.each(publicHosts)("takes %s for public", (host) => expect(checkHost(host)).toBeUndefined());
  it.each(specialHosts)("says why %s is not", (host) => expect(checkHost(host)).toBeTypeOf("string"));
  it.each(ordinaryAddresses)("names no special purpose of %s", (host) =>
    expect(checkHost(host)).toBe("is an IP address"),
  );
  it("names the special purpose of an address", () => {
    expect(checkHost("169.254.169.254")).toBe("is an IP address: link-local, where clouds serve instance metadata");
    expect(checkHost("[::ffff:7f00:1]")).toBe("is an IP address: an IPv4-mapped address");
    expect(checkHost("[::1]")).toBe("is an IP address: loopback");
  });
});

describe("matchHost", () => {
  it("matches exactly, or below a suffix, never the suffix itself", () => {
    expect(matchHost("example.com", "example.com")).toBe(true);
    expect(matchHost("example.com", "www.example.com")).toBe(false);
    expect(matchHost("*.example.com", "www.example.com")).toBe(true);
    expect(matchHost("*.example.com", "a.b.example.com")).toBe(true);
    expect(matchHost("*.example.com", "example.com")).toBe(false);
    expect(matchHost("*.example.com", "badexample.com")).toBe(false);
    expect(matchHost("example.com", "example.com.evil.net")).toBe(false);
  });
  it.each(publicHosts)("lets * reach %s", (host) => expect(matchHost("*", host)).toBe(true));
  it.each([...specialHosts, ...ordinaryAddresses])("lets no wildcard reach %s, and its exact name does", (host) => {
    expect(matchHost("*", host)).toBe(false);
    expect(matchHost(`*.${host.split(".").slice(1).join(".")}`, host)).toBe(false);
    expect(matchHost(host, host)).toBe(true);
  });
  it("gives a wildcard over any IPv4 address nothing", () => {
    fc.assert(fc.property(fc.ipV4(), (host) => !matchHost("*", host)));
    fc.assert(fc.property(fc.ipV6(), (host) => !matchHost("*", new URL(`http://[${host}]/`).hostname)));
  });
});

describe("checkHostPattern", () => {
  it.each([
    "*",
    "*.example.com",
    "*.com",
    "example.com",
    "127.0.0.1",
    "[::1]",
    "localhost",
    "printer.local",
    "xn--bcher-kva.example",
  ])("takes %s", (pattern) => expect(checkHostPattern(pattern)).toBeUndefined());
  it.each([
    "",
    "**",
    "*.*",
    "a.*",
    "*example.com",
    "*.",
    "example.com.",
    "Example.com",
    "bücher.example",
    "example.com:80",
    "http://example.com",
    "example.com/a",
    "user@example.com",
    "127.1",
    "2130706433",
    "0x7f.0.0.1",
    "::1",
    "[0:0::1]",
    "*.127.0.0.1",
    "a b",
    "a..b",
    "%6c",
    "example.com#",
    "example.com?",
  ])("refuses %s", (pattern) => expect(checkHostPattern(pattern)).toBeTypeOf("string"));
});
