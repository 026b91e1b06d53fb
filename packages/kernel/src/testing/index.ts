/** `@keyhole/kernel/testing`: for the tests of tools and of programs around a kernel. Nothing that a kernel runs imports it. */
export { FakeClock, settle } from "./fake-clock.ts";
export { replayFixture, type RunFixture } from "./run-fixture.ts";
export { scriptedApprover, type ScriptedAnswer, type ScriptedApprover } from "./scripted-approver.ts";
