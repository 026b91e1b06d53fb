/**
 * What code tries in a worker whose realm nobody sealed: here only the frame stands between it and the world. Each attempt gives `undefined` when
 * it got nothing, throws when it was refused, and gives what it got otherwise. They run as text, in the worker.
 */
export const rawAttempts: Readonly<Record<string, string>> = {
  fetch: "(await fetch(at('fetch'))).status",
  "fetch without CORS": "(await fetch(at('no-cors'), { mode: 'no-cors' })).type",
  "fetch that outlives":
    "(await fetch(at('keepalive'), { method: 'POST', body: 'x', keepalive: true, mode: 'no-cors' })).type",
  "fetch of the page's own server": "(await fetch(page + '/')).status",
  "fetch of a file": "(await fetch('file:///etc/passwd')).status",
  XMLHttpRequest: `new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('GET', at('xhr'));
    request.onload = () => resolve('loaded');
    request.onerror = reject;
    request.send();
  })`,
  "synchronous XMLHttpRequest":
    "(() => { const r = new XMLHttpRequest(); r.open('GET', at('xhr-sync'), false); r.send(); return r.status; })()",
  WebSocket: "opened(new WebSocket(at('socket').replace('http', 'ws')))",
  WebSocketStream: "(await new WebSocketStream(at('socket-stream').replace('http', 'ws')).opened) && 'opened'",
  WebTransport: "(await new WebTransport(at('transport').replace('http:', 'https:')).ready) ?? 'ready'",
  EventSource: "opened(new EventSource(at('events')))",
  importScripts: "importScripts(at('import-scripts')) ?? 'ran'",
  "import()": "await import(at('import'))",
  "import() of the page's own server": "await import(page + '/@vite/client')",
  "import() of data": "await import('data:text/javascript,export default 1')",
  "import() of a blob that imports": "await import(blob('import ' + JSON.stringify(at('nested-import'))))",
  sendBeacon: "navigator.sendBeacon(at('beacon'), 'x') || undefined",
  "a worker from the network": "opened(new Worker(at('worker')))",
  "a worker from data": "answered(new Worker('data:text/javascript,postMessage(1)'))",
  "a worker from a blob that fetches":
    "answered(new Worker(blob('fetch(' + JSON.stringify(at('nested-fetch')) + ').then(() => postMessage(1), () => postMessage(null))')))",
  "a module worker that imports":
    "answered(new Worker(blob('import ' + JSON.stringify(at('module-worker')) + '; postMessage(1)'), { type: 'module' }))",
  SharedWorker: "opened(new SharedWorker(at('shared-worker')))",
  "a font": "await new FontFace('x', 'url(' + at('font') + ')').load()",
  "a canvas filter":
    "(() => { const c = new OffscreenCanvas(9, 9).getContext('2d'); c.filter = 'url(' + at('filter') + '#x)'; c.fillRect(0, 0, 5, 5); })()",
  "a notification's icon": "new Notification('x', { icon: at('icon') }) && undefined",
  RTCPeerConnection: "new RTCPeerConnection({ iceServers: [{ urls: 'stun:127.0.0.1:8749' }] })",
  "compiling from the network": "await WebAssembly.compileStreaming(fetch(at('wasm')))",
  eval: "(0, eval)('1 + 1')",
  "new Function": "new Function('return 1')()",
  "a timer with text":
    "new Promise((resolve) => { self.ran = undefined; setTimeout('self.ran = 1', 0); setTimeout(() => resolve(self.ran), 50); })",
  indexedDB:
    "new Promise((resolve, reject) => { const r = indexedDB.open('x'); r.onsuccess = () => resolve('opened'); r.onerror = () => reject(r.error); })",
  "indexedDB.databases": "await indexedDB.databases()",
  "caches of the page": "(await (await caches.open('keyhole-test')).keys()).length || undefined",
  "the origin private file system": "await navigator.storage.getDirectory()",
  localStorage: "localStorage.length",
  cookieStore: "await cookieStore.getAll()",
  "storage buckets": "await navigator.storageBuckets.open('x')",
  "the page's locks": "(await navigator.locks.query()).held",
  "service workers": "await navigator.serviceWorker.register(at('service-worker'))",
  "the page's BroadcastChannel":
    "new Promise((resolve) => { const c = new BroadcastChannel('keyhole-test'); c.onmessage = () => resolve('heard'); c.postMessage('who is there'); setTimeout(resolve, 300); })",
  "its parent": "self.parent ?? self.top ?? self.opener",
  "a shared memory": "new SharedArrayBuffer(1)",
  "the USB devices": "await navigator.usb.getDevices()",
};

/** A worker script that runs one attempt per message. It has no `keyhole` in it: the attempts come as functions, because nothing may `eval`. */
export function rawScript(tag: string, canary: string, page: string): string {
  const functions = Object.entries(rawAttempts).map(([name, code]) => `${JSON.stringify(name)}: async () => (${code})`);
  return `
    const page = ${JSON.stringify(page)};
    const at = (name) => ${JSON.stringify(canary)} + '/${tag}/' + name;
    const blob = (text) => URL.createObjectURL(new Blob([text], { type: 'text/javascript' }));
    const opened = (target) => new Promise((resolve, reject) => { target.onopen = () => resolve('opened'); target.onerror = reject; setTimeout(resolve, 1000); });
    const answered = (worker) => new Promise((resolve, reject) => { worker.onmessage = ({ data }) => resolve(data ?? undefined); worker.onerror = reject; setTimeout(resolve, 1000); });
    const attempts = { ${functions.join(",\n")} };
    onmessage = ({ ports: [port] }) => {
      postMessage('started');
      port.onmessage = async ({ data }) => {
        const late = new Promise((resolve) => setTimeout(() => resolve('no answer'), 1500));
        const tried = attempts[data]().then((got) => (got === undefined || got === null ? 'nothing' : 'GOT ' + typeof got), (error) => 'refused');
        port.postMessage(await Promise.race([tried, late]));
      };
    };
  `;
}
