/** URLs that must reach nothing under a grant of `*` on the ports 80, 443 and PORT, where PORT is a canary's. */
export const hostileUrls: Readonly<Record<string, readonly string[]>> = {
  "loopback, in every form that a URL parser knows": [
    "http://127.0.0.1:PORT/", "http://127.1:PORT/", "http://127.0.1:PORT/", "http://127.0.0.1.:PORT/", "http://127.127.127.127:PORT/", "http://127.255.255.254:PORT/",
    "http://2130706433:PORT/", "http://0x7f000001:PORT/", "http://0x7F.0.0.1:PORT/", "http://0x7f.1:PORT/", "http://0177.0.0.1:PORT/", "http://0177.0.0.01:PORT/",
    "http://017700000001:PORT/", "http://0x7f.0x0.0x0.0x1:PORT/", "http://00177.0x0.0.1:PORT/", "http://127.0x1:PORT/", "http://127.0.0.0x1:PORT/", "http://0000000127.0.0.1:PORT/",
    "http://0X7F000001.:PORT/", "http://%31%32%37.0.0.1:PORT/", "http://127%2e0%2e0%2e1:PORT/", "http://１２７.０.０.１:PORT/", "http://①②⑦.⓪.⓪.①:PORT/", "http://127。0。0。1:PORT/",
    "http://127．0．0．1:PORT/", "http://127｡0｡0｡1:PORT/", "http://0:PORT/", "http://0.0.0.0:PORT/", "http://0x0:PORT/", "http://00:PORT/", "http://0.0:PORT/", "http://0.0.0.0.:PORT/",
    "http://𝟏𝟐𝟕.𝟎.𝟎.𝟏:PORT/", "http://127.0.0.1:PORT\\@example.com/", "http:127.0.0.1:PORT/", "http:/127.0.0.1:PORT/", "http:///127.0.0.1:PORT/", "http:\\\\127.0.0.1:PORT\\",
    "HTTP://127.0.0.1:PORT/", "http://127.0.0.1:PORT#@example.com/", "http://127.0.0.1:PORT?@example.com/", "http://127.0.0.1:PORT/example.com",
  ],
  "loopback in IPv6, and IPv4 inside IPv6": [
    "http://[::1]:PORT/", "http://[0:0:0:0:0:0:0:1]:PORT/", "http://[0000:0000:0000:0000:0000:0000:0000:0001]:PORT/", "http://[::0:1]:PORT/", "http://[::]:PORT/", "http://[0::0]:PORT/",
    "http://[::ffff:127.0.0.1]:PORT/", "http://[::FFFF:7F00:1]:PORT/", "http://[0:0:0:0:0:ffff:7f00:1]:PORT/", "http://[::ffff:0.0.0.0]:PORT/", "http://[::127.0.0.1]:PORT/", "http://[::7f00:1]:PORT/",
    "http://[::ffff:0:127.0.0.1]:PORT/", "http://[64:ff9b::127.0.0.1]:PORT/", "http://[64:ff9b::7f00:1]:PORT/", "http://[64:ff9b:1::127.0.0.1]:PORT/", "http://[64:ff9b:1:7f00:0:100::]:PORT/",
    "http://[2002:7f00:1::]:PORT/", "http://[2002:7f00:1::1]:PORT/", "http://[2001:0:7f00:1::]:PORT/", "http://[2001::80ff:fffe]:PORT/", "http://[::%31]:PORT/", "http://[::1%25lo]:PORT/", "http://[::1%lo]:PORT/",
    "http://[::ffff:169.254.169.254]:PORT/", "http://[::ffff:a9fe:a9fe]/", "http://[64:ff9b::169.254.169.254]/", "http://[2002:a9fe:a9fe::]/", "http://[::ffff:10.0.0.1]/", "http://[::ffff:192.168.0.1]/",
    "http://[::ffff:8.8.8.8]/", "http://[::8.8.8.8]/", "http://[64:ff9b::8.8.8.8]/", "http://[2002:808:808::]/",
  ],
  "private and special-purpose IPv4": [
    "http://10.0.0.1/", "http://10.255.255.255/", "http://172.16.0.1/", "http://172.31.255.255/", "http://192.168.0.1/", "http://192.168.255.255/", "http://169.254.169.254/latest/meta-data/",
    "http://169.254.170.2/v2/credentials", "http://100.64.0.1/", "http://100.100.100.200/latest/meta-data/", "http://100.127.255.255/", "http://192.0.0.1/", "http://192.0.0.192/", "http://192.0.2.1/",
    "http://192.31.196.1/", "http://192.52.193.1/", "http://192.88.99.1/", "http://192.175.48.1/", "http://198.18.0.1/", "http://198.19.255.255/", "http://198.51.100.1/", "http://203.0.113.1/", "http://224.0.0.1/",
    "http://239.255.255.255/", "http://240.0.0.1/", "http://255.255.255.255/", "http://0.1.2.3/", "http://2852039166/", "http://0xa9fea9fe/", "http://0xA9.0xFE.0xA9.0xFE/", "http://0251.0376.0251.0376/",
    "http://167772161/", "http://0xc0a80001/", "http://3232235521/", "http://10.1/", "http://192.168.257/", "http://172.1048577/",
  ],
  "private and special-purpose IPv6": [
    "http://[fc00::1]/", "http://[fd00::1]/", "http://[fd00:ec2::254]/latest/meta-data/", "http://[fdff:ffff::1]/", "http://[fe80::1]/", "http://[febf::1]/", "http://[fec0::1]/", "http://[ff02::1]/", "http://[ff05::1:3]/",
    "http://[100::1]/", "http://[2001:2::1]/", "http://[2001:10::1]/", "http://[2001:20::1]/", "http://[2001:db8::1]/", "http://[3fff::1]/", "http://[5f00::1]/", "http://[2620:4f:8000::1]/", "http://[::2]/", "http://[4000::1]/",
  ],
  "public addresses, which no wildcard reaches": ["http://8.8.8.8/", "http://1.1.1.1/", "http://134744072/", "http://[2606:4700:4700::1111]/", "http://0x08080808/"],
  "names that are not public": [
    "http://localhost:PORT/", "http://LOCALHOST:PORT/", "http://localhost.:PORT/", "http://localhost..:PORT/", "http://.localhost:PORT/", "http://a.localhost:PORT/", "http://a.b.LocalHost.:PORT/", "http://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ:PORT/",
    "http://ｌｏｃａｌｈｏｓｔ:PORT/", "http://%6c%6f%63%61%6c%68%6f%73%74:PORT/", "http://loc%61lhost:PORT/", "http://localhos\u00adt:PORT/", "http://𝓁ocalhost:PORT/", "http://printer.local/", "http://PRINTER.LOCAL./", "http://local/", "http://a。local/",
    "http://metadata.google.internal/computeMetadata/v1/", "http://metadata.google.internal./", "http://internal/", "http://x.Internal/", "http://instance-data/", "http://metadata/", "http://kubernetes/", "http://router/", "http://ip6-localhost:PORT/",
    "http://host.docker.internal:PORT/", "http://nas.home.arpa/", "http://a.test/", "http://a.invalid/", "http://a.onion/", "http://a.lan/", "http://a.corp/", "http://a.home/", "http://a.intranet/", "http://a.private/",
  ],
  "credentials, which make one host look like another": [
    "http://example.com@127.0.0.1:PORT/", "http://example.com:80@127.0.0.1:PORT/", "http://user:password@example.com/", "http://user@example.com/", "http://:password@example.com/", "http://example.com%40127.0.0.1:PORT/",
    "http://a@b@127.0.0.1:PORT/", "http://%65xample.com@localhost:PORT/", "https://example.com&@127.0.0.1:PORT#@example.com/",
  ],
  "other schemes": [
    "file:///etc/passwd", "ftp://example.com/", "gopher://127.0.0.1:PORT/_", "data:text/plain,x", "javascript:1", "blob:http://example.com/0", "ws://127.0.0.1:PORT/", "wss://example.com/", "about:blank", "chrome://version", "filesystem:http://example.com/a",
    "dict://127.0.0.1:PORT/", "ldap://127.0.0.1/", "view-source:http://example.com", "jar:http://example.com!/", "httpx://example.com/", "unix:///var/run/docker.sock", "http+unix://%2Fvar%2Frun%2Fdocker.sock/", "mailto:a@example.com",
  ],
  "control characters, which parsers drop or split at": [
    "http://exam\tple.com/", "http://example.com\n/", "http://example.com/\r\nHost: 127.0.0.1", "h\nttp://example.com/", "\u0000http://example.com/", "http://example.com/\u0000", "http://example.com\u007f/", "http://example.com/\u0085", "http://127.0.0.1\t:PORT/",
    "http://example.com/%0d%0aX: y", "http://example.com/a%00b", "http://example.com/%7f", "http://local\nhost:PORT/", "\u001fhttp://example.com",
  ],
  "ports that are not granted": ["http://example.com:22/", "http://example.com:25/", "https://example.com:8443/", "http://example.com:0/", "http://example.com:65535/", "http://example.com:6379/", "http://example.com:081/"],
  "what is no URL at all": [
    "", " ", "example.com", "//127.0.0.1:PORT/", "/etc/passwd", "http://", "http://:PORT/", "http://[::1", "http://[:::1]:PORT/", "http://127.0.0.1:99999/", "http://127.0.0.1:PORTx/", "http://256.256.256.256/", "http://1.2.3.4.5/", "http://127.0.0.1.1:PORT/", "http://0x100000000/",
    "http://exa mple.com/", "http://a..b/", "http://example.com../", "http://%zz/", "http://example.com:PORT:PORT/", "http://xn--a/", "http://\ud800/",
  ],
}; // prettier-ignore

/** Ordinary ones, each of which must pass. */
export const ordinaryUrls: readonly string[] = [
  ...["example.com", "www.example.com", "example.org", "a.b.c.example.net", "xn--bcher-kva.example", "bücher.example", "例え.jp", "1e100.net", "0.pool.ntp.org", "localhost.example.com", "internal.example.com", "my-host.co.uk", "EXAMPLE.com", "example.com."]
    .flatMap((host) => [`https://${host}/`, `http://${host}/`, `https://${host}`, `https://${host}/a/b?c=d&e=f#g`, `https://${host}:443/`, `http://${host}:80/x`]),
  "https://example.com/a%20b", "https://example.com/?q=http://127.0.0.1/", "https://example.com/?u=user:pass@host", "https://example.com/@user", "https://example.com/~user/", "https://example.com/a;b=c", "https://example.com/(x)", "https://example.com/日本語",
  "https://example.com/?text=line%0Abreak", "https://example.com/127.0.0.1", "https://example.com/..%2f", "https://example.com/a/../b", "https://example.com/#localhost", "https://example.com/?[]", "https://127.0.0.1.example.com/", "https://10.example.com/",
  "https://sub.local.example.com/", "https://example.com:PORT/", "https://user.example.com/", "https://_dmarc.example.com/",
]; // prettier-ignore
