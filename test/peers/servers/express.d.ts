/** As much of express as the servers need: it has no types of its own. */
declare module "express" {
  interface Request {
    readonly params: Readonly<Record<string, unknown>>;
  }
  interface Response {
    end(text: string): unknown;
  }
  type Handler = (request: Request, response: Response) => unknown;
  type FaultHandler = (error: unknown, request: Request, response: Response, next: unknown) => unknown;
  interface Application {
    use(path: string, handler: Handler): unknown;
    use(handler: Handler | FaultHandler): unknown;
  }
  export default function express(): Application;
}
