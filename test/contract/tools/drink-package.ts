export { default } from "./drink.ts?tool";
