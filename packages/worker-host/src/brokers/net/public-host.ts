import { isOfDomain } from "@keyhole/kernel";
import { classifyAddress } from "./addresses.ts";
import { rootZone } from "./root-zone.ts";

/**
 * Zones of the root that are not the public internet. Names outside of the root (`.cluster`,
 * `.svc`, `.lxd`, `.podman`, `.k8s`, `.internal`) need no entry here.
 */
const keptZones: readonly string[] = [
  "arpa",
  // Names that spell their address.
  "nip.io sslip.io xip.io xip.name backname.io plex.direct traefik.me local-ip.co local-ip.sh local-ip.medicmobile.org",
  // Loopback by another name.
  "localtest.me lvh.me vcap.me lacolhost.com local.gd localho.st fuf.me smackaho.st yoogle.com lndo.site ddev.site",
  "docksal.site lcl.host localhost.direct localdev.me 127-0-0-1.org.uk localdomain.pw spoofed.burpcollaborator.net",
  "bugbounty.dod.network localh.st mail.ebc.apple.com localhost.sec.qq.com localhost.ptlogin2.qq.com",
  // Another address the second time.
  "rbndr.us 1u.ms rebind.network rebind.it",
  // Networks of their owners: overlays, routers, private endpoints of clouds.
  "ts.net netbird.cloud vpce.amazonaws.com myfritz.net fritz.box easy.box o2.box kabel.box mafreebox.freebox.fr",
  "routerlogin.net routerlogin.com orbilogin.net orbilogin.com mywifiext.net mywifiext.com asusrouter.com asusnetwork.net",
  "router.asus.com repeater.asus.com tplinkwifi.net tplinklogin.net tplinkmodem.net tplinkrepeater.net tplinkextender.net",
  "linksyssmartwifi.com extender.linksys.com miwifi.com tendawifi.com melogin.cn falogin.cn setup.ubnt.com",
  "mynetworksettings.com myfiosgateway.com gateway.2wire.net huaweimobilewifi.com my.meraki.com setup.meraki.com",
  // Metadata of clouds.
  "metadata.goog metadata.tencentyun.com metadata.packet.net metadata.platformequinix.com",
].flatMap((zones) => zones.split(" "));

/**
 * Four numbers in a name, divided by dots or dashes, that are no part of longer numbers. Reverse
 * zones and some rebinding services write addresses so.
 */
const spelledAddress = /(?<![0-9])([0-9]{1,3})([.-])([0-9]{1,3})\2([0-9]{1,3})\2([0-9]{1,3})(?![0-9])/g;

/**
 * Why a host is not an ordinary host of the public internet, as the end of a sentence. `undefined` for one that is. Takes canonical hosts; no wildcard
 * grants what it says no to.
 */
export function checkHost(host: string): string | undefined {
  const address = classifyAddress(host);
  if (address) return address.special ? `is an IP address: ${address.special}` : "is an IP address";
  const labels = host.split(".");
  if (host.length > 253 || !labels.every((label) => /^[a-z0-9_-]{1,63}$/.test(label)))
    return "is not a host name in canonical form";
  if (labels.length === 1) return "is a name without a dot, which only a local network knows";
  const last = labels.at(-1)!;
  if (!rootZone.has(last)) return `is a name under .${last}, which the root of the public DNS does not have`;
  const zone = keptZones.find((each) => isOfDomain(host, each));
  if (zone !== undefined) return `is a name under .${zone}, which is not public`;
  if (labels.includes("privatelink")) return "is a private endpoint of a cloud";
  for (const [text, first, , second, third, fourth] of host.matchAll(spelledAddress))
    if (classifyAddress([first, second, third, fourth].map(Number).join("."))?.special)
      return `spells ${text}, the address of a network of its own`;
  return undefined;
}
