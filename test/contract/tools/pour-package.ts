export { default } from "keyhole:./pour.ts";
