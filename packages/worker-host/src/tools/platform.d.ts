/** What every isolate gives a tool, beyond the platform that the kernel itself needs. */

declare function btoa(binary: string): string;

interface Response {
  readonly url: string;
  readonly headers: { forEach(callback: (value: string, name: string) => void): void };
  arrayBuffer(): Promise<ArrayBuffer>;
}
