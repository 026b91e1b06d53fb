/** A worker script that runs one expression per message, by its name. They come as functions, because nothing may `eval` in a frame. */
export function frameScript(
  expressions: Readonly<Record<string, string>>,
  { tag, canary, page }: { readonly tag: string; readonly canary: string; readonly page: string },
): string {
  const functions = Object.entries(expressions).map(
    ([name, code]) => `${JSON.stringify(name)}: async (token) => (${code})`,
  );
  return `
    const page = ${JSON.stringify(page)};
    const at = (name) => ${JSON.stringify(canary)} + '/${tag}/' + name;
    const blob = (text) => URL.createObjectURL(new Blob([text], { type: 'text/javascript' }));
    const opened = (target) => new Promise((resolve, reject) => { target.onopen = () => resolve('opened'); target.onerror = reject; setTimeout(resolve, 1000); });
    const answered = (worker) => new Promise((resolve, reject) => { worker.onmessage = ({ data }) => resolve(data ?? undefined); worker.onerror = reject; setTimeout(resolve, 1000); });
    const attempts = { ${functions.join(",\n")} };
    onmessage = ({ ports: [port] }) => {
      postMessage('started');
      port.onmessage = async ({ data: { name, token } }) => {
        const late = new Promise((resolve) => setTimeout(() => resolve('nothing'), 1500));
        const text = (got) => (typeof got === 'string' ? got : typeof got);
        const tried = attempts[name](token).then((got) => (got === undefined || got === null ? 'nothing' : 'GOT ' + text(got)), () => 'refused');
        port.postMessage(await Promise.race([tried, late]));
      };
    };
  `;
}
