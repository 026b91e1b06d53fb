export { default } from "./lend.ts?tool";
