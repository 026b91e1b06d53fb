export { default } from "./pour.ts?tool";
