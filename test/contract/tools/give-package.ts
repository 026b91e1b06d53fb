export { default } from "./give.ts?tool";
