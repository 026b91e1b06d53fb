export { default } from "./subject.ts?tool";
