export { default } from "keyhole:./drink.ts";
