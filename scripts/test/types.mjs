import { run, typescriptProjects } from "../project.mjs";

/**
 * Compiles each TypeScript project, one after the other: they run beside the tests.
 *
 * @param {{ libraries: boolean, projects?: readonly string[] }} options `libraries`: also checks the declarations of
 *   installed packages
 * @returns {Promise<{ passed: number, failed: string[] }>}
 */
export async function checkTypes({ libraries, projects = typescriptProjects() }) {
  const options = libraries ? ["--skipLibCheck", "false"] : ["--skipLibCheck", "--checkers", "1"];
  const failed = [];
  for (const project of projects) {
    // The root's own reaches declarations that name packages which do not exist.
    const { code, output } = await run("tsc", ["-p", project, ...(project === "." ? [] : options)], { capture: true });
    if (code === 0) continue;
    failed.push(project);
    console.log(` ✗ types ${project}\n${output.trimEnd()}`);
  }
  console.log(` types     ${projects.length - failed.length} of ${projects.length} projects compile`);
  return { passed: projects.length - failed.length, failed };
}
