import { type Attempt, type AttemptGroup, browsers, platforms } from "./attempt.ts";

function pair(id: string, tries: string, code: string, second: string): Attempt {
  return { id, tries, code, second };
}

export const framePairs: AttemptGroup = {
  name: "Tool against tool, in two frames that nobody hardened",
  layer: "pair of frames",
  seen: "the second one finds what the first one left",
  on: browsers,
  attempts: [
    pair(
      "frames.broadcast",
      "`BroadcastChannel`",
      "(() => { const c = self.kept = new BroadcastChannel('between'); c.onmessage = ({ data }) => c.postMessage('answer to ' + data); return 'listening'; })()",
      "new Promise((resolve) => { const c = new BroadcastChannel('between'); c.onmessage = ({ data }) => resolve(data); c.postMessage('question'); setTimeout(resolve, 300); })",
    ),
    pair(
      "frames.caches",
      "`caches`",
      "(await (await caches.open('between')).put('https://left.example/', new Response('secret'))) ?? 'left'",
      "(await (await caches.open('between')).match('https://left.example/'))?.text()",
    ),
    pair(
      "frames.indexed-db",
      "IndexedDB",
      "await new Promise((resolve, reject) => { const r = indexedDB.open('between'); r.onsuccess = () => resolve('left'); r.onerror = reject; })",
      "(await indexedDB.databases()).find(({ name }) => name === 'between')?.name",
    ),
    pair(
      "frames.opfs",
      "private files",
      "await (await navigator.storage.getDirectory()).getFileHandle('between', { create: true })",
      "(await (await navigator.storage.getDirectory()).getFileHandle('between')).name",
    ),
    pair(
      "frames.locks",
      "locks",
      "new Promise((resolve, reject) => { navigator.locks.request('between', () => { resolve('held'); return new Promise(() => {}); }).catch(reject); })",
      "(await navigator.locks.query()).held?.find(({ name }) => name === 'between')?.name",
    ),
    pair(
      "frames.cookies",
      "cookies",
      "(await cookieStore.set('between', 'x')) ?? 'set'",
      "(await cookieStore.get('between'))?.value",
    ),
    pair(
      "frames.blob-import",
      "importing a blob of the other",
      "blob('export default \"secret\"')",
      "(await import(token)).default",
    ),
    pair("frames.blob-fetch", "fetching a blob of the other", "blob('secret')", "(await fetch(token)).text()"),
    pair(
      "frames.blob-worker",
      "a worker from a blob of the other",
      "blob('postMessage(\"secret\")')",
      "answered(new Worker(token))",
    ),
    pair(
      "frames.shared-worker",
      "a shared worker",
      "(() => { const url = blob('onconnect = ({ ports: [p] }) => p.postMessage(self.n = (self.n ?? 0) + 1)'); self.kept = new SharedWorker(url, 'between'); return url; })()",
      "new Promise((resolve, reject) => { const w = new SharedWorker(token, 'between'); w.port.onmessage = ({ data }) => resolve(data > 1 ? data : undefined); w.onerror = reject; setTimeout(resolve, 300); })",
    ),
  ],
};

export const toolPairs: AttemptGroup = {
  name: "Tool against tool, hardened",
  layer: "pair",
  seen: "the second one finds what the first one left",
  on: platforms,
  attempts: [
    pair(
      "tools.global",
      "a name on the global object",
      "globalThis.left = 'secret'; return 'left'",
      "return globalThis.left",
    ),
    pair(
      "tools.prototype",
      "a name on a prototype",
      "Object.prototype.left = Array.prototype.left = Function.prototype.left = 'secret'; return 'left'",
      "return ({}).left ?? [].left ?? (() => {}).left",
    ),
    pair(
      "tools.symbol",
      "the registry of symbols",
      "Symbol.for('left').constructor.left = 'secret'; return 'left'",
      "return Symbol.left",
    ),
    pair(
      "tools.intrinsic",
      "a replaced method of the language",
      "JSON.parse = () => 'secret'; Map.prototype.get = () => 'secret'; return 'left'",
      "const got = [JSON.parse('1'), new Map().get(1)]; return got.includes('secret') ? got : undefined",
    ),
    pair(
      "tools.console",
      "the console",
      "try { console.left = 'secret'; } catch {} return 'left'",
      "return console.left",
    ),
    pair(
      "tools.regexp",
      "the last match of a regular expression",
      "/(secret)/.test('a secret'); return 'left'",
      "return RegExp.$1 === 'secret' ? RegExp.$1 : undefined",
    ),
    pair(
      "tools.template",
      "the cache of template strings",
      "const tag = (parts) => parts; try { tag`x`.raw.left = 'secret'; } catch {} return 'left'",
      "const tag = (parts) => parts; return tag`x`.raw.left",
    ),
    pair("tools.module", "a variable of the module", "kept = 'secret'; return 'left'", "return kept"),
    pair(
      "tools.random",
      "the state of chance",
      "for (let i = 0; i < 999; i++) Math.random(); return String(Math.random())",
      "return String(Math.random()) === token ? token : undefined",
    ),
  ],
};
