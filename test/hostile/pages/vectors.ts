/** A place that no page may reach, as an origin: `http://127.0.0.1:1234`. */
type Snippet = (origin: string) => string;

const script = (code: string): string => `<script>try { ${code} } catch {}</script>`;
const ws = (origin: string): string => origin.replace(/^http/, "ws");

/** Ways by which a page makes a request beside its own address. Each is a part of a document, and several stand in one. */
export const vectors: Readonly<Record<string, Snippet>> = {
  image: (to) => `<img src="${to}/image"><img srcset="${to}/srcset 2x">`,
  script: (to) => `<script src="${to}/script"></script><script type="module">import "${to}/module";</script>`,
  style: (to) =>
    `<link rel="stylesheet" href="${to}/style"><style>@import "${to}/import"; body { background: url(${to}/background) }</style>`,
  font: (to) => `<style>@font-face { font-family: x; src: url(${to}/font) } p { font-family: x }</style><p>x</p>`,
  frame: (to) => `<iframe src="${to}/frame"></iframe><object data="${to}/object"></object><embed src="${to}/embed">`,
  media: (to) =>
    `<video src="${to}/video" poster="${to}/poster" autoplay></video><audio src="${to}/audio" autoplay></audio>`,
  fetch: (to) =>
    script(
      `fetch("${to}/fetch", { mode: "no-cors" }); fetch("${to}/post", { method: "POST", body: "x", mode: "no-cors" })`,
    ),
  keepalive: (to) => script(`fetch("${to}/keepalive", { mode: "no-cors", keepalive: true })`),
  xhr: (to) => script(`const x = new XMLHttpRequest(); x.open("GET", "${to}/xhr"); x.send()`),
  beacon: (to) => script(`navigator.sendBeacon("${to}/beacon", "x")`),
  websocket: (to) => script(`new WebSocket("${ws(to)}/socket")`),
  eventSource: (to) => script(`new EventSource("${to}/events")`),
  worker: (to) =>
    script(
      `new Worker(URL.createObjectURL(new Blob(['fetch("${to}/worker", { mode: "no-cors" }); new WebSocket("${ws(to)}/worker-socket"); importScripts("${to}/import-scripts")'])))`,
    ),
  sharedWorker: (to) =>
    script(`new SharedWorker(URL.createObjectURL(new Blob(['fetch("${to}/shared", { mode: "no-cors" })'])))`),
  prefetch: (to) =>
    `<link rel="prefetch" href="${to}/prefetch"><link rel="preload" as="image" href="${to}/preload"><link rel="modulepreload" href="${to}/modulepreload">`,
  preconnect: (to) => `<link rel="preconnect" href="${to}"><link rel="dns-prefetch" href="${to}">`,
  prerender: (to) =>
    `<link rel="prerender" href="${to}/prerender"><script type="speculationrules">{"prefetch":[{"source":"list","urls":["${to}/speculation"]}],"prerender":[{"source":"list","urls":["${to}/speculative"]}]}</script>`,
  popup: (to) => script(`window.open("${to}/popup"); window.open("${to}/popup2", "_blank", "noopener")`),
  form: (to) =>
    `<iframe name="sink"></iframe><form id="f" method="post" action="${to}/form" target="sink"></form>${script("document.getElementById('f').submit()")}`,
  srcdoc: (to) =>
    `<iframe srcdoc='<img src="${to}/srcdoc">'></iframe><iframe src='data:text/html,<img src="${to}/data-image">'></iframe>`,
  blobFrame: (to) =>
    script(
      `const i = document.createElement("iframe"); i.src = URL.createObjectURL(new Blob(['<img src="${to}/blob-image">'], { type: "text/html" })); document.documentElement.append(i)`,
    ),
  svg: (to) =>
    `<svg><image href="${to}/svg"/><use href="${to}/use#x"/></svg><img src='data:image/svg+xml,<svg xmlns="http://www.w3.org/2000/svg"><image href="${to}/svg-image"/></svg>'>`,
  ping: (to) => `<a id="a" href="#x" ping="${to}/ping">x</a>${script("document.getElementById('a').click()")}`,
  download: (to) => `<a id="d" href="${to}/download" download>x</a>${script("document.getElementById('d').click()")}`,
  manifest: (to) => `<link rel="manifest" href="${to}/manifest"><link rel="icon" href="${to}/icon">`,
  report: (to) =>
    `<meta http-equiv="Content-Security-Policy" content="img-src 'none'; report-uri ${to}/report"><img src="/blocked">`,
  webRtc: (to) => {
    const { hostname, port } = new URL(to);
    const server = `${hostname}:${port || 80}`;
    return script(
      `const p = new RTCPeerConnection({ iceServers: [{ urls: "stun:${server}" }, { urls: ["turn:${server}?transport=udp", "turn:${server}?transport=tcp"], username: "a", credential: "b" }] }); p.createDataChannel("x"); p.createOffer().then((o) => p.setLocalDescription(o))`,
    );
  },
  webTransport: (to) => script(`new WebTransport("${to.replace(/^http:/, "https:")}/transport")`),
};
