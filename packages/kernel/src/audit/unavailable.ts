/** Thrown to the pipeline when the sink failed: from then on nothing runs. */
export class AuditUnavailable extends Error {
  constructor(cause: unknown) {
    super("The audit log cannot be written.", { cause });
    this.name = "AuditUnavailable";
  }
}
