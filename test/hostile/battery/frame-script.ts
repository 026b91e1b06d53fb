/** What a frame is asked for: one of the expressions that it knows. */
export interface Question {
  readonly question: number;
  readonly name: string;
  /** First segment of the canary's addresses. */
  readonly tag: string;
  readonly token: string | undefined;
}

export interface Answer {
  readonly question: number;
  /** `refused`, `nothing`, or `GOT` and what. */
  readonly text: string;
}

export interface FrameWorld {
  readonly canary: string;
  readonly page: string;
  /** An expression that has no value until then got nothing. Default 1,500. */
  readonly patienceMs?: number;
}

/** A worker script that runs expressions by their names. They come as functions, because nothing may `eval` in a frame. */
export function frameScript(
  expressions: Readonly<Record<string, string>>,
  { canary, page, patienceMs = 1_500 }: FrameWorld,
): string {
  const functions = Object.entries(expressions).map(
    ([name, code]) => `${JSON.stringify(name)}: async (at, token) => (${code})`,
  );
  return `
    const page = ${JSON.stringify(page)};
    const blob = (text) => URL.createObjectURL(new Blob([text], { type: 'text/javascript' }));
    const opened = (target) => new Promise((resolve, reject) => { target.onopen = () => resolve('opened'); target.onerror = reject; setTimeout(resolve, 1000); });
    const answered = (worker) => new Promise((resolve, reject) => { worker.onmessage = ({ data }) => resolve(data ?? undefined); worker.onerror = reject; setTimeout(resolve, 1000); });
    const attempts = { ${functions.join(",\n")} };
    onmessage = ({ ports: [port] }) => {
      postMessage('started');
      port.onmessage = async ({ data: { question, name, tag, token } }) => {
        const late = new Promise((resolve) => setTimeout(() => resolve('nothing'), ${patienceMs}));
        const text = (got) => (typeof got === 'string' ? got : typeof got);
        const at = (path) => ${JSON.stringify(canary)} + '/' + tag + '/' + path;
        const tried = attempts[name](at, token).then((got) => (got === undefined || got === null ? 'nothing' : 'GOT ' + text(got)), () => 'refused');
        port.postMessage({ question, text: await Promise.race([tried, late]) });
      };
    };
  `;
}
