/** The names that every isolate gives a tool, beyond the platform that the kernel itself needs. */

declare function btoa(binary: string): string;

interface URL {
  readonly searchParams: { set(name: string, value: string): void };
}

interface Response {
  readonly url: string;
  readonly headers: {
    get(name: string): string | null;
    forEach(callback: (value: string, name: string) => void): void;
  };
  arrayBuffer(): Promise<ArrayBuffer>;
  json(): Promise<unknown>;
}
