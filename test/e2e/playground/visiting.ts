import type { Page } from "playwright";
import { afterAll, afterEach, beforeAll } from "vitest";
import { servePage, type Site } from "./site.ts";
import { type Visitor, type VisitOptions, Visits } from "./visitor.ts";

/** The page served for the tests of one file, and the visitor of the test that runs, who leaves after it. */
export class Visiting {
  site!: Site;
  visits!: Visits;
  visitor!: Visitor;

  constructor() {
    beforeAll(async () => {
      [this.site, this.visits] = await Promise.all([servePage(), Visits.open()]);
    });
    afterAll(async () => {
      await this.visits.close();
      await this.site.close();
    });
    afterEach(() => this.visitor.leave());
  }

  readonly open = async (options?: VisitOptions): Promise<Page> => {
    this.visitor = await this.visits.visit(this.site.origin, options);
    return this.visitor.page;
  };

  readonly again = async (): Promise<Page> => {
    this.visitor = await this.visits.again(this.site.origin);
    return this.visitor.page;
  };
}
