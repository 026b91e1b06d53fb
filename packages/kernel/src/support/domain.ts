/** Whether a host is a domain or one below it, label by label: `a.example.com` of `example.com`. An IP address is below none. */
export function isOfDomain(host: string, domain: string): boolean {
  const isAddress = host.startsWith("[") || /^[0-9.]+$/.test(host);
  return !isAddress && (host === domain || host.endsWith(`.${domain}`));
}
