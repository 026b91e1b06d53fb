/** One node of an expression. `column` is where a complaint about it points: 1 is the first character. */
export type Expression =
  | { readonly kind: "number"; readonly value: number; readonly column: number }
  | { readonly kind: "negate"; readonly operand: Expression; readonly column: number }
  | {
      readonly kind: "binary";
      readonly operator: Operator;
      readonly left: Expression;
      readonly right: Expression;
      readonly column: number;
    }
  | {
      readonly kind: "call";
      readonly name: FunctionName;
      readonly operands: readonly Expression[];
      readonly column: number;
    };

export type Operator = "+" | "-" | "*" | "/" | "%" | "^";

/** How many operands each function takes, at least and at most. */
export const functions = {
  sqrt: [1, 1],
  abs: [1, 1],
  min: [1, 100],
  max: [1, 100],
  round: [1, 1],
  floor: [1, 1],
  ceil: [1, 1],
  ln: [1, 1],
  log10: [1, 1],
  exp: [1, 1],
  sin: [1, 1],
  cos: [1, 1],
  tan: [1, 1],
} as const satisfies Record<string, readonly [number, number]>;

export type FunctionName = keyof typeof functions;

const constants = { pi: Math.PI, e: Math.E } as const;

export type Parsed =
  | { readonly ok: true; readonly expression: Expression }
  | { readonly ok: false; readonly message: string; readonly column: number };

/** Parentheses, calls, signs and powers inside each other: each is a frame of the parser and of the evaluation. */
const depthLimit = 100;

/** How tightly each operator holds its left and its right side. A sign holds tighter than `*` and looser than `^`: -2^2 is -4. */
const bindings: Record<Operator, readonly [left: number, right: number]> = {
  "+": [1, 2],
  "-": [1, 2],
  "*": [3, 4],
  "/": [3, 4],
  "%": [3, 4],
  "^": [8, 7],
};
const signBinding = 5;

/** The signs that people and models also write. */
const synonyms: Record<string, string> = { "×": "*", "·": "*", "÷": "/", "−": "-" };

interface Token {
  readonly kind: "number" | "name" | "sign" | "end";
  readonly text: string;
  readonly column: number;
}

/** Reads an expression by precedence climbing (Pratt 1973). */
export function parse(text: string): Parsed {
  try {
    return { ok: true, expression: new Parser(text).whole() };
  } catch (error) {
    if (error instanceof Complaint) return { ok: false, message: error.message, column: error.column };
    throw error;
  }
}

/** Something about the expression that its author can repair. */
export class Complaint extends Error {
  readonly column: number;

  constructor(message: string, column: number) {
    super(message);
    this.column = column;
  }
}

class Parser {
  readonly #tokens: readonly Token[];
  #at = 0;
  #depth = 0;

  constructor(text: string) {
    this.#tokens = tokensOf(text);
  }

  whole(): Expression {
    const expression = this.#expression(0);
    const rest = this.#next();
    if (rest.kind !== "end") throw new Complaint(`expected an operator or the end, found ${shown(rest)}`, rest.column);
    return expression;
  }

  #next(): Token {
    return this.#tokens[Math.min(this.#at++, this.#tokens.length - 1)]!;
  }

  #peek(): Token {
    return this.#tokens[this.#at]!;
  }

  #expression(binding: number): Expression {
    const start = this.#peek();
    if (++this.#depth > depthLimit)
      throw new Complaint(`more than ${depthLimit} levels inside each other`, start.column);
    let left = this.#operand();
    for (;;) {
      const { text, kind, column } = this.#peek();
      if (kind !== "sign" || !isOperator(text) || bindings[text][0] < binding) break;
      this.#next();
      left = { kind: "binary", operator: text, left, right: this.#expression(bindings[text][1]), column };
    }
    this.#depth--;
    return left;
  }

  #operand(): Expression {
    const token = this.#next();
    const { kind, text, column } = token;
    if (kind === "number") return { kind: "number", value: Number(text), column };
    if (kind === "name") return this.#name(text, column);
    if (text === "-") return { kind: "negate", operand: this.#expression(signBinding), column };
    if (text === "+") return this.#expression(signBinding);
    if (text !== "(") throw new Complaint(`expected a number, a name or \`(\`, found ${shown(token)}`, column);
    const inner = this.#expression(0);
    this.#close(column);
    return inner;
  }

  #name(text: string, column: number): Expression {
    const name = text.toLowerCase();
    const isCall = this.#peek().text === "(";
    if (Object.hasOwn(constants, name) && !isCall)
      return { kind: "number", value: constants[name as keyof typeof constants], column };
    if (!Object.hasOwn(functions, name)) {
      const known = [...Object.keys(functions), ...Object.keys(constants)].join(", ");
      throw new Complaint(`unknown name \`${text.slice(0, 40)}\`; there are ${known}`, column);
    }
    if (!isCall) throw new Complaint(`\`${name}\` is a function: write \`${name}(…)\``, column);
    return this.#call(name as FunctionName, column);
  }

  #call(name: FunctionName, column: number): Expression {
    const open = this.#next();
    const operands: Expression[] = [];
    if (this.#peek().text !== ")") {
      do operands.push(this.#expression(0));
      while (this.#peek().text === "," && this.#next());
    }
    this.#close(open.column);
    const [least, most] = functions[name];
    if (operands.length >= least && operands.length <= most) return { kind: "call", name, operands, column };
    throw new Complaint(
      `\`${name}\` takes ${most === 1 ? "one value" : `${least} to ${most} values`}, not ${operands.length}`,
      column,
    );
  }

  #close(openColumn: number): void {
    const token = this.#next();
    if (token.text !== ")")
      throw new Complaint(`expected \`)\` for the \`(\` at column ${openColumn}, found ${shown(token)}`, token.column);
  }
}

function tokensOf(text: string): readonly Token[] {
  const tokens: Token[] = [];
  // One alternative after the other at one place, none of which goes back: linear in the text.
  const pattern =
    /[ \t\r\n]+|(?<number>(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)|(?<name>[A-Za-z][A-Za-z0-9]*)|(?<sign>[-+*/%^(),×·÷−])/uy;
  while (pattern.lastIndex < text.length) {
    const start = pattern.lastIndex;
    const match = pattern.exec(text);
    if (!match)
      throw new Complaint(`unexpected character \`${String.fromCodePoint(text.codePointAt(start)!)}\``, start + 1);
    const { number, name, sign } = match.groups ?? {};
    const column = start + 1;
    if (number !== undefined) tokens.push({ kind: "number", text: number, column });
    if (name !== undefined) tokens.push({ kind: "name", text: name, column });
    if (sign !== undefined) tokens.push({ kind: "sign", text: synonyms[sign] ?? sign, column });
  }
  tokens.push({ kind: "end", text: "", column: text.length + 1 });
  return tokens;
}

function isOperator(text: string): text is Operator {
  return Object.hasOwn(bindings, text);
}

function shown(token: Token): string {
  return token.kind === "end" ? "the end" : `\`${token.text.slice(0, 40)}\``;
}
